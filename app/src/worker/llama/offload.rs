//! Whether a model runs on a GPU.

use llama_cpp_2::{LlamaBackendDevice, LlamaBackendDeviceType};

/// Memory of a GPU that is left to others, for each that the model takes: buffers of the computation are not in the
/// model's own size.
const SLACK: f64 = 1.1;

/// A GPU of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gpu {
    /// As llama.cpp counts its devices.
    pub(super) index: usize,
    pub(super) name: String,
}

/// The GPU that a model of `needed_bytes` runs on, one alone; `None` where there is none.
///
/// # Errors
/// There is one, but the model does not fit: the sentence for people, with what it needs and what is free.
pub(super) fn choose(devices: &[LlamaBackendDevice], needed_bytes: u64) -> Result<Option<Gpu>, String> {
    let is_gpu = |device: &&LlamaBackendDevice| {
        matches!(device.device_type, LlamaBackendDeviceType::Gpu | LlamaBackendDeviceType::IntegratedGpu)
    };
    let Some(roomiest) = devices.iter().filter(is_gpu).max_by_key(|device| device.memory_free) else {
        return Ok(None);
    };
    let name = if roomiest.description.is_empty() { &roomiest.name } else { &roomiest.description };
    let needed = needed_bytes as f64 * SLACK;
    if needed <= roomiest.memory_free as f64 {
        return Ok(Some(Gpu { index: roomiest.index, name: name.clone() }));
    }
    Err(format!(
        "the model runs on the CPU: it needs {:.0} MB of GPU memory, and of {name} {} MB are free",
        needed / 1e6,
        roomiest.memory_free / 1_000_000
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(name: &str, device_type: LlamaBackendDeviceType, free_mb: usize) -> LlamaBackendDevice {
        LlamaBackendDevice {
            index: free_mb,
            name: name.to_owned(),
            description: String::new(),
            backend: String::new(),
            memory_total: 8_000_000_000,
            memory_free: free_mb * 1_000_000,
            device_type,
        }
    }

    #[test]
    fn a_model_goes_where_it_fits_and_people_learn_why_not() {
        use LlamaBackendDeviceType as Type;
        let cpu = device("CPU", Type::Cpu, 60_000);
        assert_eq!(choose(std::slice::from_ref(&cpu), 500_000_000), Ok(None));
        let devices = [cpu, device("small", Type::IntegratedGpu, 400), device("large", Type::Gpu, 1000)];
        assert_eq!(choose(&devices, 900_000_000), Ok(Some(Gpu { index: 1000, name: "large".to_owned() })));
        let refused = choose(&devices, 950_000_000).unwrap_err();
        assert!(refused.contains("1045 MB") && refused.contains("large 1000 MB"), "{refused}");
    }
}
