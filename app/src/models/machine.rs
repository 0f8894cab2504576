//! What this machine has: cores, free memory, and the instructions that llama.cpp is built with.

use std::path::Path;
use std::sync::OnceLock;

/// Real cores that this process may use: number crunching gains nothing from a core's second thread.
pub fn num_cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let per_core = threads_per_core(Path::new("/sys/devices/system/cpu/cpu0/topology"));
        (threads / per_core.max(1)).max(1)
    })
}

/// Threads that share the first core, from the kernel's list such as `0,4` or `0-1`.
fn threads_per_core(topology: &Path) -> usize {
    std::fs::read_to_string(topology.join("thread_siblings_list")).map_or(1, |list| count_listed(list.trim()))
}

fn count_listed(list: &str) -> usize {
    list.split(',')
        .map(|range| match range.split_once('-') {
            Some((first, last)) => {
                let (first, last) = (first.parse::<usize>(), last.parse::<usize>());
                first.ok().zip(last.ok()).map_or(1, |(first, last)| last.saturating_sub(first) + 1)
            }
            None => 1,
        })
        .sum()
}

/// Memory that can be used without swapping; `None` where the system does not say.
pub fn available_memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// Instructions that the built-in llama.cpp uses without asking and that this processor lacks. A process that met one
/// of them would end with "illegal instruction".
pub fn missing_instructions() -> Vec<&'static str> {
    missing(&instructions())
}

#[cfg(target_arch = "x86_64")]
fn instructions() -> [(&'static str, bool); 4] {
    [
        ("AVX2", std::is_x86_feature_detected!("avx2")),
        ("FMA", std::is_x86_feature_detected!("fma")),
        ("F16C", std::is_x86_feature_detected!("f16c")),
        ("BMI2", std::is_x86_feature_detected!("bmi2")),
    ]
}

/// On other processors llama.cpp is built for the least one.
#[cfg(not(target_arch = "x86_64"))]
fn instructions() -> [(&'static str, bool); 0] {
    []
}

fn missing(instructions: &[(&'static str, bool)]) -> Vec<&'static str> {
    instructions.iter().filter(|(_, is_here)| !is_here).map(|(name, _)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_processor_lacks_is_named() {
        assert_eq!(missing(&[("AVX2", false), ("FMA", true), ("F16C", false)]), ["AVX2", "F16C"]);
        assert!(missing(&[]).is_empty());
    }

    #[test]
    fn kernel_lists_are_counted() {
        for (list, expected) in [("0", 1), ("0,4", 2), ("0-1", 2), ("0-3,8", 5)] {
            assert_eq!(count_listed(list), expected, "{list}");
        }
    }

    #[test]
    fn there_is_at_least_one_core() {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        assert!((1..=threads).contains(&num_cores()));
    }
}
