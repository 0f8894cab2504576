//! The engine's own device: which adapter, its limits, its faults.
//!
//! Invariant: no adapter that renders on the CPU unless it was asked for.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::GpuTuning;
use super::layout::FoundEntry;

/// Longest wait for the work of one submit. Real devices answer in milliseconds.
const ROUND_TIMEOUT: Duration = Duration::from_secs(10);
const SOFTWARE_ROUND_TIMEOUT: Duration = Duration::from_mins(5);
/// Largest block of rows in one buffer.
const MAX_SLAB_BYTES: u64 = 128 << 20;
/// Rows that stay on the device, unless told otherwise.
const RESIDENT_BYTES: u64 = 4 << 30;

/// What the kernels with the most of each have.
const NEEDED_STORAGE_BUFFERS: u32 = 7;
const NEEDED_WORKGROUP_BYTES: u32 = 9 << 10;
const NEEDED_THREADS: u32 = 256;

/// Why the GPU cannot finish: for a message, not for a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GpuFault(pub(crate) String);

/// An open device with the limits that the engine keeps to.
pub(crate) struct GpuDevice {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) name: String,
    pub(crate) is_software: bool,
    /// Whether subgroups add up by themselves.
    pub(crate) has_subgroups: bool,
    pub(crate) max_binding_bytes: u64,
    pub(crate) max_groups_per_dimension: u32,
    /// Candidates of all queries of a batch together.
    pub(crate) found_capacity: u32,
    pub(crate) resident_bytes: u64,
    fault: Arc<Mutex<Option<String>>>,
}

/// What an error scope caught becomes a fault.
pub(crate) fn check_scope(scope: wgpu::ErrorScopeGuard) -> Result<(), GpuFault> {
    match pollster::block_on(scope.pop()) {
        None => Ok(()),
        Some(err) => Err(GpuFault(err.to_string())),
    }
}

impl GpuDevice {
    /// Opens the best real adapter, or a software one if that is what is wanted.
    pub(crate) fn open(is_software: bool, tuning: GpuTuning) -> Result<Self, GpuFault> {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::PRIMARY;
        descriptor.flags = wgpu::InstanceFlags::empty();
        let instance = wgpu::Instance::new(descriptor);
        let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
        let best = adapters
            .into_iter()
            .filter_map(|adapter| Some((rank(adapter.get_info().device_type, is_software)?, adapter)))
            .min_by_key(|(rank, _)| *rank);
        let kind = if is_software { "software" } else { "hardware" };
        let (_, adapter) = best.ok_or_else(|| GpuFault(format!("there is no {kind} adapter")))?;
        Self::from_adapter(&adapter, is_software, tuning)
    }

    fn from_adapter(adapter: &wgpu::Adapter, is_software: bool, tuning: GpuTuning) -> Result<Self, GpuFault> {
        let limits = adapter.limits();
        check_limits(&limits)?;
        let features = if tuning.without_subgroups { wgpu::Features::empty() } else { wgpu::Features::SUBGROUP };
        let features = features & adapter.features();
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("engine"),
            required_features: features,
            required_limits: limits.clone(),
            memory_hints: wgpu::MemoryHints::MemoryUsage,
            ..Default::default()
        };
        let opened = pollster::block_on(adapter.request_device(&descriptor));
        let (device, queue) = opened.map_err(|err| GpuFault(err.to_string()))?;
        let fault = watch_faults(&device);
        let binding = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size).min(MAX_SLAB_BYTES);
        let max_binding_bytes = tuning.max_binding_bytes.unwrap_or(binding).min(binding);
        let most_found = max_binding_bytes / size_of::<FoundEntry>() as u64;
        let groups = limits.max_compute_workgroups_per_dimension;
        Ok(Self {
            device,
            queue,
            name: adapter.get_info().name,
            is_software,
            has_subgroups: features.contains(wgpu::Features::SUBGROUP),
            max_binding_bytes,
            max_groups_per_dimension: tuning.max_groups_per_dimension.unwrap_or(groups).clamp(1, groups),
            found_capacity: tuning.found_capacity.unwrap_or(1 << 20).clamp(1, most_found.max(1) as u32),
            resident_bytes: tuning.resident_bytes.unwrap_or(RESIDENT_BYTES),
            fault,
        })
    }

    /// Fails if the device reported anything since it was opened.
    pub(crate) fn check(&self) -> Result<(), GpuFault> {
        match self.fault.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            None => Ok(()),
            Some(fault) => Err(GpuFault(fault.clone())),
        }
    }

    /// Waits until everything submitted, `num_submits` since the last wait, has run. A device that does not answer in
    /// time is not waited for again.
    #[allow(clippy::disallowed_methods, reason = "the one place that waits for the GPU")]
    pub(crate) fn wait(&self, num_submits: u32) -> Result<(), GpuFault> {
        let timeout = if self.is_software { SOFTWARE_ROUND_TIMEOUT } else { ROUND_TIMEOUT * num_submits.max(1) };
        let poll = wgpu::PollType::Wait { submission_index: None, timeout: Some(timeout) };
        if let Err(err) = self.device.poll(poll) {
            self.fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(err.to_string());
        }
        self.check()
    }

    /// A buffer, or the fault of having no room for it.
    pub(crate) fn buffer(&self, label: &str, bytes: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer, GpuFault> {
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let size = bytes.max(16).next_multiple_of(16);
        let descriptor = wgpu::BufferDescriptor { label: Some(label), size, usage, mapped_at_creation: false };
        let buffer = self.device.create_buffer(&descriptor);
        let outcome = check_scope(memory);
        check_scope(validation)?;
        outcome.map(|()| buffer)
    }
}

/// What the kernels need of any device.
fn check_limits(limits: &wgpu::Limits) -> Result<(), GpuFault> {
    let needs = [
        ("storage buffers", limits.max_storage_buffers_per_shader_stage, NEEDED_STORAGE_BUFFERS),
        ("bytes of workgroup memory", limits.max_compute_workgroup_storage_size, NEEDED_WORKGROUP_BYTES),
        ("threads in a workgroup", limits.max_compute_invocations_per_workgroup, NEEDED_THREADS),
    ];
    match needs.into_iter().find(|&(_, found, needed)| found < needed) {
        Some((what, found, needed)) => Err(GpuFault(format!("the adapter has {found} {what} of {needed} needed"))),
        None => Ok(()),
    }
}

/// Lower is better; `None` is out of the question.
fn rank(kind: wgpu::DeviceType, is_software: bool) -> Option<u8> {
    match (kind, is_software) {
        (wgpu::DeviceType::Cpu, true) | (wgpu::DeviceType::DiscreteGpu, false) => Some(0),
        (wgpu::DeviceType::IntegratedGpu, false) => Some(1),
        (wgpu::DeviceType::VirtualGpu, false) => Some(2),
        _ => None,
    }
}

/// Collects what the device reports outside of error scopes.
fn watch_faults(device: &wgpu::Device) -> Arc<Mutex<Option<String>>> {
    let fault = Arc::new(Mutex::new(None));
    let report = |fault: &Arc<Mutex<Option<String>>>| {
        let fault = Arc::clone(fault);
        move |what: String| {
            fault.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(what);
        }
    };
    let (uncaptured, lost) = (report(&fault), report(&fault));
    device.on_uncaptured_error(Arc::new(move |err: wgpu::Error| {
        uncaptured(err.to_string());
    }));
    device.set_device_lost_callback(move |reason, message| {
        lost(format!("device lost ({reason:?}): {message}"));
    });
    fault
}
