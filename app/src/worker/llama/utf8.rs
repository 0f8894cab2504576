//! Holds the bytes of split characters back until they are whole.

/// Bytes in, whole UTF-8 out.
#[derive(Debug, Default)]
pub(super) struct Utf8Buffer {
    held: Vec<u8>,
}

impl Utf8Buffer {
    /// Adds bytes and takes what is whole. Bytes that can never become a character turn into U+FFFD.
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let mut text = String::new();
        loop {
            match std::str::from_utf8(&self.held) {
                Ok(whole) => {
                    text.push_str(whole);
                    self.held.clear();
                    return text;
                }
                Err(err) => {
                    let valid = err.valid_up_to();
                    text.push_str(&String::from_utf8_lossy(&self.held[..valid]));
                    let Some(invalid) = err.error_len() else {
                        self.held.drain(..valid);
                        return text;
                    };
                    text.push('\u{fffd}');
                    self.held.drain(..valid + invalid);
                }
            }
        }
    }

    /// What is left at the end.
    pub(super) fn finish(&mut self) -> String {
        let text = String::from_utf8_lossy(&self.held).into_owned();
        self.held.clear();
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_split_emoji_waits_for_its_last_byte() {
        let mut buffer = Utf8Buffer::default();
        let bytes = "a😀".as_bytes();
        assert_eq!(buffer.push(&bytes[..3]), "a");
        assert_eq!(buffer.push(&bytes[3..]), "😀");
    }

    #[test]
    fn impossible_bytes_are_replaced_and_cut_ones_at_the_end_too() {
        let mut buffer = Utf8Buffer::default();
        assert_eq!(buffer.push(b"a\xffb\xe6"), "a\u{fffd}b");
        assert_eq!(buffer.finish(), "\u{fffd}");
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_text(text: String, cuts in proptest::collection::vec(0_usize..64, 0..8)) {
            let mut buffer = Utf8Buffer::default();
            let mut rest = text.as_bytes();
            let mut out = String::new();
            for cut in cuts {
                let (head, tail) = rest.split_at(cut.min(rest.len()));
                out.push_str(&buffer.push(head));
                rest = tail;
            }
            out.push_str(&buffer.push(rest));
            out.push_str(&buffer.finish());
            prop_assert_eq!(out, text);
        }
    }
}
