//! Seeded data for the benches, and the loops that show what the machine can do at best.

mod serve;

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

pub use serve::{Answer, Request, read_vectors, serve};

use engine::{Error, FileSpec, Metric, VectorFile};

/// A small, fast, seeded generator (`SplitMix64`).
#[derive(Debug)]
pub struct Rng(pub u64);

impl Rng {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// Roughly normal: a sum of uniform values.
    fn normal(&mut self) -> f32 {
        let bits = self.next_u64();
        let part = |shift: u32| ((bits >> shift) & 0xFFFF) as f32 / 32_768.0 - 1.0;
        part(0) + part(16) + part(32) + part(48)
    }

    /// `count` random vectors of unit length, one after the other.
    pub fn unit_vectors(&mut self, count: usize, dims: usize) -> Vec<f32> {
        let mut vectors: Vec<f32> = (0..count * dims).map(|_| self.normal()).collect();
        for vector in vectors.chunks_exact_mut(dims) {
            let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
            for value in vector {
                *value /= norm;
            }
        }
        vectors
    }
}

/// A vector file of random unit vectors under the dot product, with the ids 1, 2, 3 …
///
/// The file lies in the folder for temporary files and is made anew each time.
///
/// # Errors
/// If the disk refuses.
pub fn make_file(name: &str, num_rows: usize, dims: usize) -> Result<(PathBuf, VectorFile), Error> {
    let folder = std::env::temp_dir().join(format!("outcrop-bench-{}", std::process::id()));
    let io = |source| Error::Io { action: "make", path: folder.clone(), source };
    std::fs::create_dir_all(&folder).map_err(io)?;
    let spec = FileSpec { metric: Metric::Dot, ..FileSpec::new(dims as u32) };
    let mut file = VectorFile::create(&folder.join(format!("{name}.vec")), &spec)?;
    let mut rng = Rng(42);
    let batch = 20_000;
    for start in (0..num_rows).step_by(batch) {
        let count = batch.min(num_rows - start);
        let ids: Vec<u64> = (start as u64 + 1..=(start + count) as u64).collect();
        file.append(&ids, &rng.unit_vectors(count, dims))?;
    }
    Ok((folder, file))
}

/// Times that a peak is tried for; the best one counts.
const PEAK_TRIES: usize = 5;
/// Steps of the arithmetic loop: some hundredths of a second.
const FMA_STEPS: u32 = 5_000_000;
/// Independent sums of the arithmetic loop: enough to hide the latency of a multiply-add.
const FMA_SUMS: usize = 12;

/// Bytes that a thread of the read loop takes at a time.
const READ_BYTES: usize = 8 << 20;

/// Gigabytes per second that all cores read from a file in memory, mapped, when they do nothing else: the roof of a
/// scan of that file.
///
/// # Errors
/// If it cannot be mapped.
#[allow(unsafe_code, clippy::disallowed_methods, reason = "the file is mapped as the engine maps it")]
pub fn read_gb_per_s(path: &Path) -> std::io::Result<f64> {
    let file = std::fs::File::open(path)?;
    // SAFETY: a bench's own file, which nobody cuts off while it runs.
    let bytes = unsafe { memmap2::Mmap::map(&file)? };
    // Pages are aligned for words; a few bytes at the end are no matter.
    let words = bytemuck::cast_slice(&bytes[..bytes.len() / 8 * 8]);
    let next = AtomicUsize::new(0);
    let seconds = best_seconds(
        || next.store(0, Ordering::Relaxed),
        || {
            while let Some(part) = words.chunks(READ_BYTES / 8).nth(next.fetch_add(1, Ordering::Relaxed)) {
                black_box(sum_words(part));
            }
        },
    );
    Ok(size_of_val(words) as f64 / seconds / 1e9)
}

/// Billions of f32 operations per second that all cores do when they only multiply and add in registers, with the
/// instructions that the engine's fastest kernels use: the roof of a batch.
pub fn fma_gflops() -> f64 {
    let seconds = best_seconds(|| (), multiply_add);
    let threads = num_threads();
    f64::from(FMA_STEPS) * (FMA_SUMS * 8 * 2 * threads) as f64 / seconds / 1e9
}

fn num_threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Runs `work` on all cores at once, several times, each after `prepare`, and returns the shortest.
fn best_seconds(prepare: impl Fn(), work: impl Fn() + Sync) -> f64 {
    let threads = num_threads();
    let once = || {
        prepare();
        let start = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(&work);
            }
        });
        start.elapsed().as_secs_f64()
    };
    (0..PEAK_TRIES).map(|_| once()).fold(f64::INFINITY, f64::min)
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "a call that the CPU was checked for")]
fn multiply_add() {
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the CPU has AVX2 and FMA.
        unsafe { multiply_add_avx2() }
    } else {
        multiply_add_plain();
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn multiply_add() {
    multiply_add_plain();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn multiply_add_avx2() {
    use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_set1_ps};
    let (a, b) = (_mm256_set1_ps(black_box(1.000_1)), _mm256_set1_ps(black_box(0.5)));
    let mut sums = [_mm256_set1_ps(0.0); FMA_SUMS];
    for _ in 0..FMA_STEPS {
        for sum in &mut sums {
            *sum = _mm256_fmadd_ps(a, b, *sum);
        }
    }
    black_box(sums);
}

fn multiply_add_plain() {
    let (a, b) = (black_box([1.000_1_f32; 8]), black_box([0.5_f32; 8]));
    let mut sums = [[0.0_f32; 8]; FMA_SUMS];
    for _ in 0..FMA_STEPS {
        for sum in &mut sums {
            for lane in 0..8 {
                sum[lane] += a[lane] * b[lane];
            }
        }
    }
    black_box(sums);
}

/// Sums in independent lanes, which the compiler turns into wide loads.
pub fn sum_words(words: &[u64]) -> u64 {
    let (chunks, rest) = words.as_chunks::<16>();
    let mut lanes = [0_u64; 16];
    for chunk in chunks {
        for (lane, word) in lanes.iter_mut().zip(chunk) {
            *lane = lane.wrapping_add(*word);
        }
    }
    lanes.iter().chain(rest).fold(0, |sum, word| sum.wrapping_add(*word))
}
