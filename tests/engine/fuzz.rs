//! A mutator for stable Rust: sound files, spoiled at random, then used in every way there is.
//!
//! Nothing may panic, die of a signal or give a wrong answer: a file that opens and verifies must answer as the
//! oracle does. `OUTCROP_FUZZ_SECONDS` sets how long it runs (two seconds if not given), `OUTCROP_FUZZ_SEED` repeats
//! one case; a failure names its seed.

use std::fs;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use engine::{Dtype, Error, FileSpec, Metric, Precision, Query, RowFilter, Searcher, VectorFile, VectorSource};

use super::samples::{Rng, TempFile, cpu_searcher};

const DIMS: usize = 33;
const SLOT_BYTES: usize = 4096;

fn number_from(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|value| value.parse().ok())
}

/// The files that are spoiled, each with the name it needs.
struct Corpus {
    made: TempFile,
    files: Vec<(String, Vec<u8>)>,
}

impl Corpus {
    fn new(dtype: Dtype, seed: u64) -> Self {
        let spec = FileSpec { dtype, metric: Metric::Dot, block_bytes: Some(65_536), ..FileSpec::new(DIMS as u32) };
        let mut made = TempFile::with_rows(&spec, &Rng(seed).values(DIMS * 600));
        made.file.delete(&[50, 60, 5990]).unwrap();
        made.file.write_codes().unwrap();
        let snapshot = made.file.snapshot();
        snapshot.write_npy(&made.folder.path().join("rows.npy")).unwrap();
        snapshot.write_fvecs(&made.folder.path().join("rows.fvecs")).unwrap();
        drop(snapshot);
        let names = ["rows.vec", "rows.vec.deleted-1", "rows.vec.codes", "rows.npy", "rows.fvecs"];
        let read = |name: &str| (name.to_owned(), fs::read(made.folder.path().join(name)).unwrap());
        let files = names.map(read).to_vec();
        Self { made, files }
    }

    /// A folder with the files, one or two of them spoiled.
    fn spoil(&self, rng: &mut Rng, folder: &Path) {
        let (first, second) = (rng.below(5) as usize, rng.below(15) as usize);
        for (index, (name, bytes)) in self.files.iter().enumerate() {
            let mut bytes = bytes.clone();
            if index == first || index == second {
                for _ in 0..=rng.below(3) {
                    mutate(&mut bytes, rng);
                }
                if rng.below(4) > 0 {
                    mend_checksums(name, &mut bytes);
                }
            }
            fs::write(folder.join(name), bytes).unwrap();
        }
    }
}

/// Changes some bytes, most often near the start, where the headers are.
fn mutate(bytes: &mut Vec<u8>, rng: &mut Rng) {
    if bytes.is_empty() {
        bytes.push(0);
    }
    let reach = [160, 8192, bytes.len() as u64][rng.below(3) as usize];
    let at = rng.below(reach.min(bytes.len() as u64)) as usize;
    let telling = [0, 1, 0x7F, 0xFF, 1 << 16, 1 << 31, u64::MAX, u64::MAX >> 1, 1 << 40, rng.below(5000)];
    match rng.below(7) {
        0 => bytes[at] ^= 1 << rng.below(8),
        1 => bytes[at] = rng.next_u64() as u8,
        2 => put(bytes, at / 4 * 4, &telling[rng.below(10) as usize].to_le_bytes()[..4]),
        3 => put(bytes, at / 8 * 8, &telling[rng.below(10) as usize].to_le_bytes()),
        4 => bytes.truncate(at),
        5 => bytes.extend(std::iter::repeat_n(rng.next_u64() as u8, at)),
        _ => {
            let from = rng.below(bytes.len() as u64) as usize;
            let part = bytes[from..(from + 64).min(bytes.len())].to_vec();
            put(bytes, at, &part);
        }
    }
}

fn put(bytes: &mut [u8], at: usize, part: &[u8]) {
    let end = (at + part.len()).min(bytes.len());
    bytes[at.min(end)..end].copy_from_slice(&part[..end - at.min(end)]);
}

/// CRC32C bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ (0x82F6_3B78 & 0_u32.wrapping_sub(crc & 1));
    !bytes.iter().fold(u32::MAX, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}

/// Makes the checksums of headers fit again, so that what they say is believed.
fn mend_checksums(name: &str, bytes: &mut [u8]) {
    let covered: &[(usize, usize)] = match name {
        "rows.vec" => &[(0, SLOT_BYTES - 4), (SLOT_BYTES, SLOT_BYTES - 4)],
        "rows.vec.codes" => &[(0, 60)],
        _ => &[],
    };
    for &(start, length) in covered {
        if let Some(header) = bytes.get(start..start + length + 4) {
            let crc = crc32c(&header[..length]);
            put(bytes, start + length, &crc.to_le_bytes());
        }
    }
}

/// Opens and searches; a sound file must answer as the oracle does, through codes too.
fn read(path: &Path, searcher: &Searcher, open: fn(&Path) -> Result<VectorFile, Error>) -> Result<(), Error> {
    let file = open(path)?;
    let is_sound = file.verify()?.is_sound();
    let snapshot = file.snapshot();
    let vectors = Rng(3).values(snapshot.dims() * 5);
    let filter = RowFilter::from_predicate(&snapshot, |id| id % 3 != 0);
    for (count, filter) in [(1, None), (5, Some(&filter))] {
        let full = Query { filter, ..Query::new(&vectors[..snapshot.dims() * count]) };
        let found = searcher.search(&snapshot, &full);
        assert!(found.is_ok() || !is_sound, "a sound file answers: {found:?}");
        let certified = Query { precision: Precision::Certified, ..full };
        let found = (found?.hits, searcher.search(&snapshot, &certified)?.hits);
        let expected = searcher.search_naive(&snapshot, &full)?;
        assert_eq!((&found.0, &found.1), (&expected, &expected));
    }
    Ok(())
}

/// Writes to a spoiled file; what was accepted must verify as before.
fn write(path: &Path) -> Result<(), Error> {
    let mut file = VectorFile::open(path)?;
    let was_sound = file.verify()?.is_sound();
    let next = file.last_id().map_or(Some(1), |id| id.checked_add(1));
    if let Some(next) = next.filter(|_| file.dims() < 1000) {
        file.append(&[next], &vec![0.25; file.dims()])?;
        file.delete(&[next, 10])?;
    }
    file.write_codes()?;
    file.compact()?;
    assert!(!was_sound || file.verify()?.is_sound(), "writing spoils nothing");
    Ok(())
}

fn take_in(path: &Path) -> Result<(), Error> {
    let mut source = VectorSource::open(path)?;
    while !source.read(200)?.is_empty() {}
    Ok(())
}

fn run_case(corpora: &[Corpus], searcher: &Searcher, seed: u64, folder: &Path) {
    let mut rng = Rng(seed);
    let corpus = &corpora[rng.below(corpora.len() as u64) as usize];
    assert!(corpus.made.file.is_writer());
    corpus.spoil(&mut rng, folder);
    let path = folder.join("rows.vec");
    // Errors are the right answer to most of these; panics are not.
    let _ = read(&path, searcher, VectorFile::open_read_only);
    let _ = read(&path, searcher, VectorFile::open_in_memory);
    let _ = take_in(&folder.join("rows.npy"));
    let _ = take_in(&folder.join("rows.fvecs"));
    if rng.below(3) == 0 {
        let _ = write(&path);
    }
}

#[test]
fn spoiled_files_never_panic_and_never_lie() {
    let corpora = [Corpus::new(Dtype::F32, 1), Corpus::new(Dtype::F16, 2)];
    let searcher = cpu_searcher(1);
    let scratch = TempFile::create(&FileSpec::new(1));
    let folder: PathBuf = scratch.folder.path().join("case");
    let start = Instant::now();
    let duration = Duration::from_secs(number_from("OUTCROP_FUZZ_SECONDS").unwrap_or(2));
    let only = number_from("OUTCROP_FUZZ_SEED");
    let mut seed = only.unwrap_or(0);
    while start.elapsed() < duration {
        fs::create_dir_all(&folder).unwrap();
        let case = AssertUnwindSafe(|| run_case(&corpora, &searcher, seed, &folder));
        assert!(std::panic::catch_unwind(case).is_ok(), "repeat with OUTCROP_FUZZ_SEED={seed}");
        fs::remove_dir_all(&folder).unwrap();
        if only.is_some() {
            break;
        }
        seed += 1;
    }
    eprintln!("{seed} spoiled files in {:?}", start.elapsed());
    assert!(only.is_some() || seed > 20, "the mutator ran");
}
