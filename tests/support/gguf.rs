//! GGUF models with another chat template than the one they came with.
//!
//! Layout: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>.

const TEMPLATE_KEY: &[u8] = b"tokenizer.chat_template";
/// What tensors are aligned to where the metadata says nothing else.
const ALIGNMENT: usize = 32;
const TEXT: u32 = 8;
const ARRAY: u32 = 9;

/// The same model with `template` in place of its own.
///
/// # Panics
/// It is no GGUF model, or has no chat template.
pub fn with_chat_template(model: &[u8], template: &str) -> Vec<u8> {
    let mut reader = Reader { bytes: model, at: 8 };
    let (num_tensors, num_values) = (reader.u64(), reader.u64());
    let mut own = None;
    for _ in 0..num_values {
        let key = reader.text();
        let kind = reader.u32();
        let start = reader.at;
        reader.skip_value(kind);
        if key == TEMPLATE_KEY {
            own = Some(start..reader.at);
        }
    }
    for _ in 0..num_tensors {
        reader.text();
        let num_dims = reader.u32() as usize;
        reader.at += num_dims * 8 + 4 + 8;
    }
    let Some(own) = own else { panic!("the model has no chat template") };
    let mut bytes = model[..own.start].to_vec();
    bytes.extend((template.len() as u64).to_le_bytes());
    bytes.extend(template.as_bytes());
    bytes.extend(&model[own.end..reader.at]);
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
    bytes.extend(&model[reader.at.next_multiple_of(ALIGNMENT)..]);
    bytes
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> &'a [u8] {
        let taken = &self.bytes[self.at..self.at + len];
        self.at += len;
        taken
    }

    fn u32(&mut self) -> u32 {
        self.take(4).iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
    }

    fn u64(&mut self) -> u64 {
        self.take(8).iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    fn text(&mut self) -> &'a [u8] {
        let len = self.u64() as usize;
        self.take(len)
    }

    fn skip_value(&mut self, kind: u32) {
        match kind {
            TEXT => drop(self.text()),
            ARRAY => {
                let (kind, len) = (self.u32(), self.u64());
                (0..len).for_each(|_| self.skip_value(kind));
            }
            0 | 1 | 7 => self.at += 1,
            2 | 3 => self.at += 2,
            4..=6 => self.at += 4,
            _ => self.at += 8,
        }
    }
}
