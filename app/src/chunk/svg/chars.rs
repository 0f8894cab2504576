//! Characters of a document counted quickly.

/// Characters before every so many bytes of a text, so that a byte position becomes a character position at once.
pub(super) struct CharIndex {
    counts: Vec<usize>,
}

const STRIDE_BYTES: usize = 1024;

impl CharIndex {
    pub(super) fn new(text: &str) -> Self {
        let mut counts = vec![0];
        let mut sum = 0;
        for block in text.as_bytes().chunks(STRIDE_BYTES) {
            sum += starts(block);
            counts.push(sum);
        }
        Self { counts }
    }

    /// Characters before the byte `position`.
    pub(super) fn char_at(&self, text: &str, position: usize) -> usize {
        let position = position.min(text.len());
        let block = position / STRIDE_BYTES;
        self.counts[block] + starts(&text.as_bytes()[block * STRIDE_BYTES..position])
    }
}

/// Bytes that start a character.
fn starts(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte & 0xC0) != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_across_blocks() {
        let text = "漢a".repeat(2000);
        let index = CharIndex::new(&text);
        for position in [0, 3, 4, 4096, 7999, 8000] {
            let position = if text.is_char_boundary(position) { position } else { position + 1 };
            assert_eq!(index.char_at(&text, position), text[..position].chars().count());
        }
        assert_eq!(CharIndex::new("").char_at("", 0), 0);
    }
}
