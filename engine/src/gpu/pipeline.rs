//! The compiled kernels and how their buffers are bound.

use super::device::{GpuDevice, GpuFault, check_scope};
use super::layout::Params;
use super::slab::SlabContent;
use crate::metric::Dtype;
use crate::query::KernelKind;

/// Up to this many queries the row kernel is the faster one.
const MAX_ROW_KERNEL_QUERIES: usize = 8;

/// A kernel: one file, one entry point, one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// `shaders/score_rows.wgsl`
    Rows,
    /// `shaders/score_rows_subgroup.wgsl`
    RowsSubgroup,
    /// `shaders/score_tile.wgsl`
    Tile,
    /// `shaders/score_codes.wgsl`
    Codes,
}

impl Kernel {
    const ALL: [Self; 4] = [Self::Rows, Self::RowsSubgroup, Self::Tile, Self::Codes];

    /// The kernel for a batch of this size on a device, over codes where that is possible.
    pub(crate) fn for_queries(num_queries: usize, has_codes: bool, gpu: &GpuDevice) -> Self {
        match num_queries {
            ..=MAX_ROW_KERNEL_QUERIES if has_codes => Self::Codes,
            ..=MAX_ROW_KERNEL_QUERIES if gpu.has_subgroups => Self::RowsSubgroup,
            ..=MAX_ROW_KERNEL_QUERIES => Self::Rows,
            _ => Self::Tile,
        }
    }

    /// Whether a device can run it.
    pub(crate) fn runs_on(self, gpu: &GpuDevice) -> bool {
        self != Self::RowsSubgroup || gpu.has_subgroups
    }

    /// Whether it reads codes in place of values.
    pub(crate) fn reads_codes(self) -> bool {
        self == Self::Codes
    }

    /// What it reads.
    pub(crate) fn content(self) -> SlabContent {
        if self.reads_codes() { SlabContent::Codes } else { SlabContent::Values }
    }

    /// The kinds and types it is compiled for; codes have one type, whatever they were made of.
    fn variants(self) -> Vec<(KernelKind, Dtype)> {
        match self {
            Self::Codes => vec![(KernelKind::Dot, Dtype::F32)],
            Self::Rows | Self::RowsSubgroup | Self::Tile => {
                let kinds = [KernelKind::Dot, KernelKind::L2];
                kinds.into_iter().flat_map(|kind| [Dtype::F32, Dtype::F16].map(|dtype| (kind, dtype))).collect()
            }
        }
    }

    /// The override constants of a variant.
    fn constants(self, kind: KernelKind, dtype: Dtype) -> Vec<(&'static str, f64)> {
        let flag = |is_set: bool| f64::from(u8::from(is_set));
        match self {
            Self::Codes => Vec::new(),
            Self::Rows | Self::RowsSubgroup | Self::Tile => {
                vec![("IS_L2", flag(kind == KernelKind::L2)), ("IS_F16", flag(dtype == Dtype::F16))]
            }
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Rows => "score_rows",
            Self::RowsSubgroup => "score_rows_subgroup",
            Self::Tile => "score_tile",
            Self::Codes => "score_codes",
        }
    }

    fn source(self) -> &'static str {
        match self {
            Self::Rows => include_str!("../../../shaders/score_rows.wgsl"),
            Self::RowsSubgroup => include_str!("../../../shaders/score_rows_subgroup.wgsl"),
            Self::Tile => include_str!("../../../shaders/score_tile.wgsl"),
            Self::Codes => include_str!("../../../shaders/score_codes.wgsl"),
        }
    }

    /// Workgroups that score so many rows against so many queries.
    pub(crate) fn num_groups(self, num_rows: u64, num_queries: u64) -> u64 {
        match self {
            Self::Rows => num_rows.div_ceil(8),
            Self::Tile => num_rows.div_ceil(64) * num_queries.div_ceil(64),
            Self::RowsSubgroup | Self::Codes => num_rows.div_ceil(32),
        }
    }
}

/// A kernel that raises cuts between rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutKernel {
    /// `shaders/merge_candidates.wgsl`
    Merge,
    /// `shaders/select_candidates.wgsl`
    Select,
}

impl CutKernel {
    /// The most hits for which candidates are merged.
    pub(crate) const MAX_MERGED_HITS: usize = 1024;
    const ALL: [Self; 2] = [Self::Merge, Self::Select];

    /// The kernel for so many hits.
    pub(crate) fn for_hits(k: usize) -> Self {
        if k <= Self::MAX_MERGED_HITS { Self::Merge } else { Self::Select }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Merge => "merge_candidates",
            Self::Select => "select_candidates",
        }
    }

    fn source(self) -> &'static str {
        match self {
            Self::Merge => include_str!("../../../shaders/merge_candidates.wgsl"),
            Self::Select => include_str!("../../../shaders/select_candidates.wgsl"),
        }
    }
}

/// Every kernel in every variant.
pub(crate) struct Pipelines {
    /// What the score kernels bind.
    pub(crate) bindings: wgpu::BindGroupLayout,
    /// What the others bind.
    pub(crate) cut_bindings: wgpu::BindGroupLayout,
    variants: Vec<(Kernel, KernelKind, Dtype, wgpu::ComputePipeline)>,
    cuts: Vec<(CutKernel, wgpu::ComputePipeline)>,
}

impl Pipelines {
    /// Compiles all kernels.
    pub(crate) fn new(gpu: &GpuDevice) -> Result<Self, GpuFault> {
        let internal = gpu.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let validation = gpu.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let device = &gpu.device;
        let (bindings, cut_bindings) = (score_bindings(device), cut_bindings(device));
        let layout = pipeline_layout(device, &bindings);
        let mut variants = Vec::new();
        for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.runs_on(gpu)) {
            let module = shader(device, kernel.name(), kernel.source());
            for (kind, dtype) in kernel.variants() {
                let pipeline = compile(device, &layout, &module, kernel.name(), &kernel.constants(kind, dtype));
                variants.push((kernel, kind, dtype, pipeline));
            }
        }
        let layout = pipeline_layout(device, &cut_bindings);
        let compile_cut = |kernel: CutKernel| {
            let module = shader(device, kernel.name(), kernel.source());
            (kernel, compile(device, &layout, &module, kernel.name(), &[]))
        };
        let cuts = CutKernel::ALL.into_iter().map(compile_cut).collect();
        let outcome = check_scope(validation);
        check_scope(internal)?;
        outcome.map(|()| Self { bindings, cut_bindings, variants, cuts })
    }

    /// The pipeline of a variant.
    pub(crate) fn get(&self, kernel: Kernel, kind: KernelKind, dtype: Dtype) -> Option<&wgpu::ComputePipeline> {
        let dtype = if kernel.reads_codes() { Dtype::F32 } else { dtype };
        self.variants.iter().find(|variant| (variant.0, variant.1, variant.2) == (kernel, kind, dtype)).map(|it| &it.3)
    }
    /// The pipeline of a kernel that raises cuts.
    pub(crate) fn get_cut(&self, kernel: CutKernel) -> Option<&wgpu::ComputePipeline> {
        self.cuts.iter().find(|it| it.0 == kernel).map(|it| &it.1)
    }
}

fn shader(device: &wgpu::Device, name: &str, source: &str) -> wgpu::ShaderModule {
    let source = wgpu::ShaderSource::Wgsl(source.into());
    device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some(name), source })
}

fn pipeline_layout(device: &wgpu::Device, bindings: &wgpu::BindGroupLayout) -> wgpu::PipelineLayout {
    device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("engine"),
        bind_group_layouts: &[Some(bindings)],
        immediate_size: 0,
    })
}

fn compile(
    device: &wgpu::Device,
    layout: &wgpu::PipelineLayout,
    module: &wgpu::ShaderModule,
    name: &str,
    constants: &[(&str, f64)],
) -> wgpu::ComputePipeline {
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(name),
        layout: Some(layout),
        module,
        entry_point: Some(name),
        compilation_options: wgpu::PipelineCompilationOptions {
            constants,
            // The kernels write workgroup memory before they read it.
            zero_initialize_workgroup_memory: false,
        },
        cache: None,
    })
}

const READ: wgpu::BufferBindingType = wgpu::BufferBindingType::Storage { read_only: true };
const READ_WRITE: wgpu::BufferBindingType = wgpu::BufferBindingType::Storage { read_only: false };

fn score_bindings(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let storage = [(1, READ), (2, READ), (3, READ), (4, READ), (5, READ), (6, READ_WRITE), (7, READ_WRITE)];
    bind_group_layout(device, &storage)
}

fn cut_bindings(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    bind_group_layout(device, &[(5, READ_WRITE), (6, READ_WRITE), (7, READ_WRITE)])
}

/// The params and some storage.
fn bind_group_layout(device: &wgpu::Device, storage: &[(u32, wgpu::BufferBindingType)]) -> wgpu::BindGroupLayout {
    let entry = |binding, ty, has_dynamic_offset, min_binding_size| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size },
        count: None,
    };
    let params_bytes = wgpu::BufferSize::new(size_of::<Params>() as u64);
    let mut entries = vec![entry(0, wgpu::BufferBindingType::Uniform, true, params_bytes)];
    entries.extend(storage.iter().map(|&(binding, ty)| entry(binding, ty, false, None)));
    let descriptor = wgpu::BindGroupLayoutDescriptor { label: Some("engine"), entries: &entries };
    device.create_bind_group_layout(&descriptor)
}
