//! What this machine has: cores and free memory.

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

#[cfg(test)]
mod tests {
    use super::*;

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
