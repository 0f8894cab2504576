//! Seeded data for the benches and the read loop that they are measured against.

use std::path::PathBuf;
use std::time::Instant;

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

/// Bytes per second that `threads` threads read when they do nothing else: the roof of a scan.
pub fn read_bandwidth(words: &[u64], threads: usize) -> f64 {
    let start = Instant::now();
    std::thread::scope(|scope| {
        for part in words.chunks(words.len().div_ceil(threads)) {
            scope.spawn(move || std::hint::black_box(sum_words(part)));
        }
    });
    size_of_val(words) as f64 / start.elapsed().as_secs_f64()
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
