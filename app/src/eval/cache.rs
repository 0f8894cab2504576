//! Vectors on disk between measurements: texts that were embedded once are not embedded again, so that the second
//! run over a set takes seconds.
//!
//! The file is `eval-<fingerprint of the embedder>.bin`: a magic line, then records of 16 bytes of hash and the
//! vector. Records are only ever appended; half a record at the end, which a kill may leave, is cut off.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::embed::{EmbedError, Embedder, TextRole, TokenVectors};
use crate::progress::CancelToken;

const MAGIC: &[u8; 16] = b"outcrop-eval-v1\n";
const HASH_BYTES: usize = 16;
/// Texts that are embedded between two writes: what a cancel may lose.
const GROUP_TEXTS: usize = 256;

type Hash = [u8; HASH_BYTES];

/// An embedder that remembers.
pub struct CachedEmbedder<'a> {
    inner: &'a dyn Embedder,
    path: PathBuf,
    known: Mutex<HashMap<Hash, Vec<f32>>>,
}

impl<'a> CachedEmbedder<'a> {
    /// Reads what `folder` holds for `inner`, and adds to it from then on.
    ///
    /// # Errors
    /// The folder or the file cannot be read or written.
    pub fn open(inner: &'a dyn Embedder, folder: &Path) -> std::io::Result<Self> {
        fs::create_dir_all(folder)?;
        let path = folder.join(format!("eval-{}.bin", inner.fingerprint()));
        let mut bytes = Vec::new();
        if path.exists() {
            File::open(&path)?.read_to_end(&mut bytes)?;
        }
        let record_bytes = HASH_BYTES + 4 * inner.dims();
        let records = bytes.strip_prefix(MAGIC.as_slice()).unwrap_or_default();
        let whole = records.len() - records.len() % record_bytes;
        if !bytes.starts_with(MAGIC) || bytes.len() != MAGIC.len() + whole {
            let kept = [MAGIC.as_slice(), &records[..whole]].concat();
            fs::write(&path, kept)?;
        }
        let known = records[..whole].chunks_exact(record_bytes).map(read_record).collect();
        Ok(Self { inner, path, known: Mutex::new(known) })
    }

    /// Embeds texts that are not known yet and remembers them.
    fn learn(&self, texts: &[(Hash, &str)], role: TextRole, cancel: &CancelToken) -> Result<(), EmbedError> {
        let batch: Vec<&str> = texts.iter().map(|(_, text)| *text).collect();
        let vectors = self.inner.embed(&batch, role, cancel, &mut |_| {})?;
        let rows = vectors.chunks_exact(self.inner.dims().max(1));
        let mut records = Vec::new();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for ((hash, _), row) in texts.iter().zip(rows) {
            records.extend_from_slice(hash);
            for value in row {
                records.extend_from_slice(&value.to_le_bytes());
            }
            known.insert(*hash, row.to_vec());
        }
        let written = OpenOptions::new().append(true).open(&self.path).and_then(|mut file| file.write_all(&records));
        written.map_err(|err| EmbedError::Run(format!("vectors could not be kept: {err}: {}", self.path.display())))
    }
}

fn read_record(record: &[u8]) -> (Hash, Vec<f32>) {
    let (hash, row) = record.split_at(HASH_BYTES);
    let mut key = Hash::default();
    key.copy_from_slice(hash);
    let (values, _) = row.as_chunks::<4>();
    (key, values.iter().map(|value| f32::from_le_bytes(*value)).collect())
}

fn hash(text: &str, role: TextRole) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[u8::from(role == TextRole::Query)]);
    hasher.update(text.as_bytes());
    let mut short = Hash::default();
    short.copy_from_slice(&hasher.finalize().as_bytes()[..HASH_BYTES]);
    short
}

impl Embedder for CachedEmbedder<'_> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn fingerprint(&self) -> &str {
        self.inner.fingerprint()
    }

    fn dims(&self) -> usize {
        self.inner.dims()
    }

    fn count_tokens(&self, text: &str) -> usize {
        self.inner.count_tokens(text)
    }

    fn window_tokens(&self) -> usize {
        self.inner.window_tokens()
    }

    fn embed(
        &self,
        texts: &[&str],
        role: TextRole,
        cancel: &CancelToken,
        on_done: &mut dyn FnMut(usize),
    ) -> Result<Vec<f32>, EmbedError> {
        let hashes: Vec<Hash> = texts.iter().map(|text| hash(text, role)).collect();
        let mut missing: Vec<(Hash, &str)> = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            hashes.iter().copied().zip(texts.iter().copied()).filter(|(hash, _)| !known.contains_key(hash)).collect()
        };
        missing.sort_by(|a, b| a.1.len().cmp(&b.1.len()).then_with(|| a.0.cmp(&b.0)));
        missing.dedup_by_key(|(hash, _)| *hash);
        let mut done = texts.len() - missing.len();
        on_done(done);
        for group in missing.chunks(GROUP_TEXTS) {
            self.learn(group, role, cancel)?;
            done += group.len();
            on_done(done);
        }
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(hashes.iter().filter_map(|hash| known.get(hash)).flatten().copied().collect())
    }

    fn token_vectors(
        &self,
        texts: &[&str],
        role: TextRole,
        cancel: &CancelToken,
    ) -> Result<Option<Vec<TokenVectors>>, EmbedError> {
        self.inner.token_vectors(texts, role, cancel)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::embed::HashEmbedder;

    /// Counts the texts that it embeds.
    struct Counting(AtomicUsize);

    impl Embedder for Counting {
        fn name(&self) -> &str {
            HashEmbedder.name()
        }
        fn fingerprint(&self) -> &str {
            HashEmbedder.fingerprint()
        }
        fn dims(&self) -> usize {
            HashEmbedder.dims()
        }
        fn count_tokens(&self, text: &str) -> usize {
            HashEmbedder.count_tokens(text)
        }
        fn window_tokens(&self) -> usize {
            HashEmbedder.window_tokens()
        }
        fn embed(
            &self,
            texts: &[&str],
            role: TextRole,
            cancel: &CancelToken,
            on_done: &mut dyn FnMut(usize),
        ) -> Result<Vec<f32>, EmbedError> {
            self.0.fetch_add(texts.len(), Ordering::Relaxed);
            HashEmbedder.embed(texts, role, cancel, on_done)
        }

        fn token_vectors(
            &self,
            texts: &[&str],
            _: TextRole,
            _: &CancelToken,
        ) -> Result<Option<Vec<TokenVectors>>, EmbedError> {
            Ok(Some(vec![TokenVectors { dims: 1, rows: vec![127] }; texts.len()]))
        }
    }

    fn embed(embedder: &dyn Embedder, texts: &[&str]) -> Vec<f32> {
        embedder.embed(texts, TextRole::Passage, &CancelToken::new(), &mut |_| {}).unwrap()
    }

    #[test]
    fn a_text_is_embedded_once_whatever_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let counting = Counting(AtomicUsize::new(0));
        let texts = ["granite", "slate", "granite", "chalk and flint"];
        let plain = embed(&HashEmbedder, &texts);
        for _ in 0..2 {
            let cached = CachedEmbedder::open(&counting, folder.path()).unwrap();
            assert_eq!(embed(&cached, &texts), plain);
        }
        assert_eq!(counting.0.load(Ordering::Relaxed), 3);
        let cached = CachedEmbedder::open(&counting, folder.path()).unwrap();
        let tokens = cached.token_vectors(&texts, TextRole::Passage, &CancelToken::new()).unwrap();
        assert_eq!(tokens.map(|tokens| tokens.len()), Some(4), "what the embedder can do besides, it still can");
    }

    #[test]
    fn half_a_record_and_foreign_files_are_put_right() {
        let folder = tempfile::tempdir().unwrap();
        let texts = ["granite", "slate"];
        let path = CachedEmbedder::open(&HashEmbedder, folder.path()).unwrap().path;
        embed(&CachedEmbedder::open(&HashEmbedder, folder.path()).unwrap(), &texts);
        let whole = fs::read(&path).unwrap();
        for damaged in [&whole[..whole.len() - 5], b"something else", b""] {
            fs::write(&path, damaged).unwrap();
            let cached = CachedEmbedder::open(&HashEmbedder, folder.path()).unwrap();
            assert_eq!(embed(&cached, &texts), embed(&HashEmbedder, &texts));
            assert_eq!(fs::read(&path).unwrap().len(), whole.len());
        }
    }
}
