//! The WGSL kernels without a GPU: valid, laid out as the host believes, translatable everywhere.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::fs;
use std::path::Path;

use engine::gpu::layout;
use naga::back::{PipelineConstants, hlsl, msl, pipeline_constants, spv};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Module, ShaderStage, TypeInner};

/// Workgroup memory that every device has.
const MAX_WORKGROUP_BYTES: u32 = 16 << 10;
/// Threads of a workgroup that every device runs.
const MAX_WORKGROUP_THREADS: u32 = 256;

struct Shader {
    name: String,
    module: Module,
    info: ModuleInfo,
}

/// Every shader, parsed and validated with the capabilities of its tier: what WebGPU has at least
fn shaders() -> Vec<Shader> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shaders");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let shaders: Vec<Shader> = paths.map(|path| load(&path)).collect();
    assert!(shaders.len() >= 6, "the kernels are there");
    shaders
}

/// Whether a shader is for devices with subgroups, which speak newer languages too.
fn needs_subgroups(name: &str) -> bool {
    name.contains("subgroup")
}

fn load(path: &Path) -> Shader {
    let source = fs::read_to_string(path).unwrap();
    let module = naga::front::wgsl::parse_str(&source).unwrap_or_else(|err| panic!("{}", err.emit_to_string(&source)));
    let mut capabilities = Capabilities::SHADER_FLOAT16_IN_FLOAT32;
    // A tier of its own, for devices that have them.
    capabilities.set(Capabilities::SUBGROUP, needs_subgroups(&path.to_string_lossy()));
    let mut validator = Validator::new(ValidationFlags::all(), capabilities);
    let info = validator.validate(&module).unwrap_or_else(|err| panic!("{}", err.emit_to_string(&source)));
    Shader { name: path.file_stem().unwrap().to_str().unwrap().to_owned(), module, info }
}

/// Name and offset of the members of a struct of the shader.
fn members(module: &Module, name: &str) -> Vec<(String, usize)> {
    let (_, ty) = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some(name)).unwrap();
    let TypeInner::Struct { members, .. } = &ty.inner else { panic!("{name} is a struct") };
    members.iter().map(|member| (member.name.clone().unwrap(), member.offset as usize)).collect()
}

#[test]
fn buffers_are_laid_out_as_the_host_believes() {
    for shader in shaders() {
        for (name, expected) in [("Params", layout::params_offsets()), ("Found", layout::found_offsets())] {
            let found = members(&shader.module, name);
            for (field, offset) in &expected {
                let member = found.iter().find(|(member, _)| member == field);
                assert_eq!(member.map(|(_, offset)| offset), Some(offset), "{}: {name}.{field}", shader.name);
            }
        }
        let params_bytes = members(&shader.module, "Params").len() * 4;
        assert_eq!(params_bytes, size_of::<layout::Params>(), "{}: nothing is left out", shader.name);
        assert_eq!(size_of::<layout::FoundEntry>(), 16, "a vec4 per candidate");
        assert_eq!(size_of::<layout::ListLength>(), 8, "two counts per query");
    }
}

#[test]
fn limits_that_every_device_has_are_kept() {
    for shader in shaders() {
        let mut layouter = naga::proc::Layouter::default();
        layouter.update(shader.module.to_ctx()).unwrap();
        let shared = shader.module.global_variables.iter().filter(|(_, it)| it.space == AddressSpace::WorkGroup);
        let bytes: u32 = shared.map(|(_, it)| layouter[it.ty].size).sum();
        assert!(bytes <= MAX_WORKGROUP_BYTES, "{}: {bytes} bytes of workgroup memory", shader.name);
        let threads: u32 = shader.module.entry_points[0].workgroup_size.iter().product();
        assert!(threads <= MAX_WORKGROUP_THREADS, "{}: {threads} threads", shader.name);
    }
}

#[test]
fn every_variant_translates_to_every_language() {
    for shader in shaders() {
        for (is_l2, is_f16) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
            let mut constants = PipelineConstants::default();
            // Not every kernel has both.
            for (name, value) in [("IS_L2", is_l2), ("IS_F16", is_f16)] {
                if shader.module.overrides.iter().any(|(_, it)| it.name.as_deref() == Some(name)) {
                    constants.insert(name.to_owned(), value);
                }
            }
            let entry = Some((ShaderStage::Compute, shader.name.as_str()));
            let (module, info) =
                pipeline_constants::process_overrides(&shader.module, &shader.info, entry, &constants).unwrap();
            translate(&shader.name, &module, &info);
        }
    }
}

fn translate(name: &str, module: &Module, info: &ModuleInfo) {
    let is_newer = needs_subgroups(name);
    let lang_version = if is_newer { (1, 3) } else { (1, 0) };
    let words = spv::write_vec(module, info, &spv::Options { lang_version, ..spv::Options::default() }, None).unwrap();
    assert_eq!(words[0], 0x0723_0203, "{name}: SPIR-V");
    let lang_version = if is_newer { (2, 4) } else { (1, 0) };
    let options = msl::Options { lang_version, fake_missing_bindings: true, ..msl::Options::default() };
    let (metal, _) = msl::write_string(module, info, &options, &msl::PipelineOptions::default()).unwrap();
    assert!(metal.contains("kernel void"), "{name}: MSL");
    let mut direct3d = String::new();
    let shader_model = if is_newer { hlsl::ShaderModel::V6_0 } else { hlsl::ShaderModel::V5_1 };
    let options = hlsl::Options { shader_model, fake_missing_bindings: true, ..hlsl::Options::default() };
    let pipeline_options = hlsl::PipelineOptions::default();
    hlsl::Writer::new(&mut direct3d, &options, &pipeline_options).write(module, info, None).unwrap();
    assert!(direct3d.contains("numthreads(256, 1, 1)"), "{name}: HLSL");
}
