//! The compiled kernels and how their buffers are bound.

use super::device::{GpuDevice, GpuFault, check_scope};
use super::layout::Params;
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

/// Every kernel in every variant.
pub(crate) struct Pipelines {
    pub(crate) bindings: wgpu::BindGroupLayout,
    variants: Vec<(Kernel, KernelKind, Dtype, wgpu::ComputePipeline)>,
}

impl Pipelines {
    /// Compiles all kernels.
    pub(crate) fn new(gpu: &GpuDevice) -> Result<Self, GpuFault> {
        let internal = gpu.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let validation = gpu.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let bindings = bind_group_layout(&gpu.device);
        let layout = gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("engine"),
            bind_group_layouts: &[Some(&bindings)],
            immediate_size: 0,
        });
        let mut variants = Vec::new();
        for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.runs_on(gpu)) {
            let source = wgpu::ShaderSource::Wgsl(kernel.source().into());
            let descriptor = wgpu::ShaderModuleDescriptor { label: Some(kernel.name()), source };
            let module = gpu.device.create_shader_module(descriptor);
            for (kind, dtype) in kernel.variants() {
                let pipeline = compile(&gpu.device, &layout, &module, kernel, kind, dtype);
                variants.push((kernel, kind, dtype, pipeline));
            }
        }
        let outcome = check_scope(validation);
        check_scope(internal)?;
        outcome.map(|()| Self { bindings, variants })
    }

    /// The pipeline of a variant.
    pub(crate) fn get(&self, kernel: Kernel, kind: KernelKind, dtype: Dtype) -> Option<&wgpu::ComputePipeline> {
        let dtype = if kernel.reads_codes() { Dtype::F32 } else { dtype };
        self.variants.iter().find(|variant| (variant.0, variant.1, variant.2) == (kernel, kind, dtype)).map(|it| &it.3)
    }
}

fn compile(
    device: &wgpu::Device,
    layout: &wgpu::PipelineLayout,
    module: &wgpu::ShaderModule,
    kernel: Kernel,
    kind: KernelKind,
    dtype: Dtype,
) -> wgpu::ComputePipeline {
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(kernel.name()),
        layout: Some(layout),
        module,
        entry_point: Some(kernel.name()),
        compilation_options: wgpu::PipelineCompilationOptions {
            constants: &kernel.constants(kind, dtype),
            // The kernels write workgroup memory before they read it.
            zero_initialize_workgroup_memory: false,
        },
        cache: None,
    })
}

fn bind_group_layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let entry = |binding, ty, has_dynamic_offset, min_binding_size| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size },
        count: None,
    };
    let read = wgpu::BufferBindingType::Storage { read_only: true };
    let mut entries =
        vec![entry(0, wgpu::BufferBindingType::Uniform, true, wgpu::BufferSize::new(size_of::<Params>() as u64))];
    entries.extend((1..=5).map(|binding| entry(binding, read, false, None)));
    entries.push(entry(6, wgpu::BufferBindingType::Storage { read_only: false }, false, None));
    let descriptor = wgpu::BindGroupLayoutDescriptor { label: Some("engine"), entries: &entries };
    device.create_bind_group_layout(&descriptor)
}
