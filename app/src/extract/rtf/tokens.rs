//! RTF bytes as groups, control words and bytes of text.

/// A piece of RTF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// `{`
    Open,
    /// `}`
    Close,
    /// A control word with its number.
    Word(&'a str, Option<i32>),
    /// A control symbol such as `\~`.
    Symbol(u8),
    /// A byte of text in the code page of the moment.
    Byte(u8),
}

/// Longest control word; the standard allows 32 letters.
const LONGEST_WORD: usize = 64;

/// Iterates over the tokens of a file.
pub(super) struct Tokens<'a> {
    rest: &'a [u8],
}

impl<'a> Tokens<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn control(&mut self) -> Option<Token<'a>> {
        let (&first, after) = self.rest.split_first()?;
        if first == b'\'' {
            let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
            let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            self.rest = after.get(if byte.is_some() { 2 } else { 0 }..).unwrap_or_default();
            return Some(Token::Byte(byte.unwrap_or(b'?')));
        }
        if !first.is_ascii_alphabetic() {
            self.rest = after;
            return Some(Token::Symbol(first));
        }
        let letters = self.rest.iter().take(LONGEST_WORD).take_while(|byte| byte.is_ascii_alphabetic()).count();
        let (word, after) = self.rest.split_at(letters);
        self.rest = after;
        let number = self.number();
        if let Some((b' ', after)) = self.rest.split_first() {
            self.rest = after;
        }
        let word = std::str::from_utf8(word).unwrap_or_default();
        if let ("bin", Some(bytes)) = (word, number) {
            let bytes = usize::try_from(bytes).unwrap_or(0).min(self.rest.len());
            self.rest = &self.rest[bytes..];
        }
        Some(Token::Word(word, number))
    }

    fn number(&mut self) -> Option<i32> {
        let sign = usize::from(self.rest.first() == Some(&b'-'));
        let digits = self.rest[sign..].iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        let (number, after) = self.rest.split_at(sign + digits);
        self.rest = after;
        std::str::from_utf8(number).ok()?.parse().ok()
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let (&byte, after) = self.rest.split_first()?;
            self.rest = after;
            match byte {
                b'{' => return Some(Token::Open),
                b'}' => return Some(Token::Close),
                b'\\' => return self.control(),
                b'\r' | b'\n' | 0 => {}
                byte => return Some(Token::Byte(byte)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_take_their_number_and_one_space() {
        let tokens: Vec<_> = Tokens::new(b"{\\u-3 \\par\\~\\'e9 x\\bin3 }}}y}").collect();
        assert_eq!(
            tokens,
            [
                Token::Open,
                Token::Word("u", Some(-3)),
                Token::Word("par", None),
                Token::Symbol(b'~'),
                Token::Byte(0xe9),
                Token::Byte(b' '),
                Token::Byte(b'x'),
                Token::Word("bin", Some(3)),
                Token::Byte(b'y'),
                Token::Close,
            ]
        );
    }
}
