//! [`check_gguf`]: is a file a whole GGUF model? Asked before llama.cpp sees it.
//!
//! Layout: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>. The header, the metadata and the table
//! of tensors are read; the weights are not, but the file must be long enough to hold them.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

use super::ModelError;

const MAGIC: &[u8; 4] = b"GGUF";
const VERSIONS: std::ops::RangeInclusive<u32> = 2..=3;
const DEFAULT_ALIGNMENT: u64 = 32;
const MAX_ENTRIES: u64 = 1 << 20;
const MAX_KEY_BYTES: u64 = 1 << 16;
const MAX_ARRAY_DEPTH: u32 = 4;

/// Checks the header, the tables and the length of a GGUF file.
///
/// # Errors
/// The file cannot be read, is not GGUF, is damaged, or is shorter than its tensors; the message says where.
pub fn check_gguf(path: &Path) -> Result<(), ModelError> {
    let file = File::open(path).map_err(ModelError::io(path))?;
    let bytes = file.metadata().map_err(ModelError::io(path))?.len();
    let mut reader = GgufReader { inner: BufReader::new(file), bytes, alignment: DEFAULT_ALIGNMENT };
    reader.check().map_err(|detail| ModelError::NotAModel { path: path.to_owned(), detail })
}

struct GgufReader {
    inner: BufReader<File>,
    bytes: u64,
    alignment: u64,
}

impl GgufReader {
    fn check(&mut self) -> Result<(), String> {
        let magic: [u8; 4] = self.array("the magic number")?;
        if &magic != MAGIC {
            return Err(format!("not a GGUF model: it starts with \"{}\" and not with \"GGUF\"", magic.escape_ascii()));
        }
        let version = self.u32("the version")?;
        if !VERSIONS.contains(&version) {
            return Err(format!(
                "GGUF version {version} is not supported; versions {} and {} are",
                VERSIONS.start(),
                VERSIONS.end()
            ));
        }
        let num_tensors = self.count("the number of tensors")?;
        let num_values = self.count("the number of metadata values")?;
        for _ in 0..num_values {
            self.metadata_value()?;
        }
        let mut end = 0;
        for _ in 0..num_tensors {
            end = end.max(self.tensor_end()?);
        }
        self.check_length(end)
    }

    fn check_length(&mut self, data_bytes: u64) -> Result<(), String> {
        let start = self.position()?.next_multiple_of(self.alignment);
        match start.checked_add(data_bytes) {
            Some(end) if end <= self.bytes => Ok(()),
            Some(end) => {
                Err(format!("the model is cut off: it has {} bytes but its tensors reach to byte {end}", self.bytes))
            }
            None => Err("damaged GGUF: a tensor ends beyond any file".to_owned()),
        }
    }

    fn metadata_value(&mut self) -> Result<(), String> {
        let key = self.string("a metadata key")?;
        let kind = self.u32("a metadata type")?;
        if key == "general.alignment" && kind == 4 {
            let alignment = u64::from(self.u32("the alignment")?);
            if !alignment.is_power_of_two() {
                return Err(format!("damaged GGUF: its alignment is {alignment}, not a power of two"));
            }
            self.alignment = alignment;
            return Ok(());
        }
        self.skip_value(kind, 0)
    }

    fn skip_value(&mut self, kind: u32, depth: u32) -> Result<(), String> {
        if let Some(size) = scalar_bytes(kind) {
            return self.skip(size, "a metadata value");
        }
        match kind {
            8 => self.skip_string(),
            9 if depth < MAX_ARRAY_DEPTH => self.skip_array(depth),
            _ => Err(format!("damaged GGUF: unknown metadata type {kind}")),
        }
    }

    fn skip_array(&mut self, depth: u32) -> Result<(), String> {
        let kind = self.u32("an array's type")?;
        let len = self.u64("an array's length")?;
        if let Some(size) = scalar_bytes(kind) {
            return self.skip(len.saturating_mul(size), "an array");
        }
        if len > self.bytes {
            return Err(format!("damaged GGUF: an array claims {len} items"));
        }
        for _ in 0..len {
            self.skip_value(kind, depth + 1)?;
        }
        Ok(())
    }

    /// Where a tensor's data ends, from the start of all data.
    fn tensor_end(&mut self) -> Result<u64, String> {
        let name = self.string("a tensor's name")?;
        let num_dims = self.u32("a tensor's rank")?;
        if num_dims > 8 {
            return Err(format!("damaged GGUF: tensor {name:?} has {num_dims} dimensions"));
        }
        let mut elements = 1_u64;
        for _ in 0..num_dims {
            let size = self.u64("a tensor's size")?;
            elements =
                elements.checked_mul(size).ok_or_else(|| format!("damaged GGUF: tensor {name:?} is too large"))?;
        }
        let kind = self.u32("a tensor's type")?;
        let offset = self.u64("a tensor's place")?;
        let bytes = match block_layout(kind) {
            Some((per_block, block_bytes)) => elements.div_ceil(per_block).checked_mul(block_bytes),
            None => Some(0),
        };
        bytes
            .and_then(|bytes| offset.checked_add(bytes))
            .ok_or_else(|| format!("damaged GGUF: tensor {name:?} is too large"))
    }

    fn count(&mut self, what: &str) -> Result<u64, String> {
        let count = self.u64(what)?;
        if count > MAX_ENTRIES {
            return Err(format!("damaged GGUF: {what} is {count}"));
        }
        Ok(count)
    }

    fn string(&mut self, what: &str) -> Result<String, String> {
        let len = self.u64(what)?;
        if len > MAX_KEY_BYTES {
            return Err(format!("damaged GGUF: {what} claims {len} bytes"));
        }
        let mut text = vec![0; len as usize];
        self.fill(&mut text, what)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn skip_string(&mut self) -> Result<(), String> {
        let len = self.u64("a text's length")?;
        self.skip(len, "a text")
    }

    fn skip(&mut self, len: u64, what: &str) -> Result<(), String> {
        let here = self.position()?;
        if len > self.bytes.saturating_sub(here) {
            return Err(self.cut_off(what));
        }
        self.inner.seek_relative(len as i64).map_err(|err| err.to_string())
    }

    fn u32(&mut self, what: &str) -> Result<u32, String> {
        self.array(what).map(u32::from_le_bytes)
    }

    fn u64(&mut self, what: &str) -> Result<u64, String> {
        self.array(what).map(u64::from_le_bytes)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], String> {
        let mut bytes = [0; N];
        self.fill(&mut bytes, what)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8], what: &str) -> Result<(), String> {
        self.inner.read_exact(bytes).map_err(|err| match err.kind() {
            std::io::ErrorKind::UnexpectedEof => self.cut_off(what),
            _ => err.to_string(),
        })
    }

    fn position(&mut self) -> Result<u64, String> {
        self.inner.stream_position().map_err(|err| err.to_string())
    }

    fn cut_off(&self, what: &str) -> String {
        format!("the model is cut off: its {} bytes end within {what}", self.bytes)
    }
}

/// Bytes of a metadata value of fixed size.
fn scalar_bytes(kind: u32) -> Option<u64> {
    match kind {
        0 | 1 | 7 => Some(1),
        2 | 3 => Some(2),
        4..=6 => Some(4),
        10..=12 => Some(8),
        _ => None,
    }
}

/// Elements and bytes of a block of a tensor type; `None` for types newer than this list.
fn block_layout(kind: u32) -> Option<(u64, u64)> {
    Some(match kind {
        0 | 26 => (1, 4),
        1 | 25 | 30 => (1, 2),
        2 | 20 => (32, 18),
        3 => (32, 20),
        6 => (32, 22),
        7 => (32, 24),
        8 => (32, 34),
        9 => (32, 36),
        10 => (256, 84),
        11 | 21 => (256, 110),
        12 => (256, 144),
        13 => (256, 176),
        14 => (256, 210),
        15 => (256, 292),
        16 | 35 => (256, 66),
        17 => (256, 74),
        18 => (256, 98),
        19 => (256, 50),
        22 => (256, 82),
        23 => (256, 136),
        24 => (1, 1),
        27 | 28 => (1, 8),
        29 => (256, 56),
        34 => (256, 54),
        39 => (32, 17),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use proptest::prelude::*;

    use super::*;

    /// A model with one F32 tensor of 16 elements.
    fn model() -> Vec<u8> {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(3_u32.to_le_bytes());
        bytes.extend(1_u64.to_le_bytes());
        bytes.extend(2_u64.to_le_bytes());
        push_text(&mut bytes, "general.name");
        bytes.extend(8_u32.to_le_bytes());
        push_text(&mut bytes, "tiny");
        push_text(&mut bytes, "tokens");
        bytes.extend(9_u32.to_le_bytes());
        bytes.extend(8_u32.to_le_bytes());
        bytes.extend(2_u64.to_le_bytes());
        push_text(&mut bytes, "a");
        push_text(&mut bytes, "b");
        push_text(&mut bytes, "weight");
        bytes.extend(1_u32.to_le_bytes());
        bytes.extend(16_u64.to_le_bytes());
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend(0_u64.to_le_bytes());
        bytes.resize(bytes.len().next_multiple_of(32) + 64, 0);
        bytes
    }

    fn push_text(bytes: &mut Vec<u8>, text: &str) {
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
    }

    fn check(bytes: &[u8]) -> Result<(), String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        check_gguf(file.path()).map_err(|err| err.to_string())
    }

    #[test]
    fn a_whole_model_passes() {
        assert_eq!(check(&model()), Ok(()));
    }

    #[test]
    fn every_cut_is_found() {
        let model = model();
        for len in 0..model.len() {
            let err = check(&model[..len]).unwrap_err();
            assert!(err.contains("cut off"), "{len}: {err}");
        }
    }

    #[test]
    fn another_format_is_named() {
        let err = check(b"PK\x03\x04 not a model").unwrap_err();
        assert!(err.contains("PK\\x03\\x04"), "{err}");
    }

    #[test]
    fn a_newer_version_is_refused() {
        let mut model = model();
        model[4] = 9;
        assert!(check(&model).unwrap_err().contains("version 9"));
    }

    proptest! {
        #[test]
        fn damage_never_panics(at in 0_usize..150, value: u8) {
            let mut model = model();
            let at = at % model.len();
            model[at] = value;
            let _ = check(&model);
        }
    }
}
