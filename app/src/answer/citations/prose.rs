//! Reading prose letter by letter: where sentences end, and which brackets are markers.

use super::Annotator;
use super::markers::{Bracket, bracket, code_span, num_backticks, numbers};

const SENTENCE_ENDS: [char; 6] = ['.', '!', '?', '。', '！', '？'];

impl Annotator<'_> {
    /// Judges the front of what is held; false when nothing more can be said yet.
    pub(super) fn step(&mut self, out: &mut String, is_last: bool) -> bool {
        let Some(first) = self.held.chars().next() else {
            return false;
        };
        match first {
            '[' => self.step_marker(out, is_last),
            '`' => self.step_code(out, is_last),
            ' ' => self.step_space(out, is_last),
            '\n' => {
                self.end_sentence(out);
                self.pass(first, out);
                true
            }
            _ if SENTENCE_ENDS.contains(&first) => self.step_full_stop(first, out, is_last),
            _ => {
                self.pass(first, out);
                true
            }
        }
    }

    /// The space before a marker goes with it if it is dropped.
    fn step_space(&mut self, out: &mut String, is_last: bool) -> bool {
        match self.held[1..].chars().next() {
            None if !is_last => return false,
            Some('[') => {
                self.held.drain(..1);
                self.owes_space = true;
            }
            _ => self.pass(' ', out),
        }
        true
    }

    fn step_marker(&mut self, out: &mut String, is_last: bool) -> bool {
        match bracket(&self.held) {
            Bracket::Open if !is_last => return false,
            Bracket::Marker(inside) => {
                let numbers: Vec<u32> = numbers(inside).collect();
                self.held.drain(..inside.len() + 2);
                self.judge_markers(&numbers, out);
            }
            _ => self.pass('[', out),
        }
        true
    }

    /// A code span passes as it is; backticks that open none are text.
    fn step_code(&mut self, out: &mut String, is_last: bool) -> bool {
        let is_whole = is_last || self.held.contains('\n');
        let span = code_span(&self.held);
        let may_go_on = span.is_none_or(|length| length == self.held.len());
        if may_go_on && !is_whole {
            return false;
        }
        let code = self.held[..span.unwrap_or(num_backticks(&self.held))].to_owned();
        self.held.drain(..code.len());
        self.pass_all(&code, out);
        true
    }

    /// A sentence ends where white space or the end follows its full stop. Markers that come right after the full
    /// stop still belong to it.
    fn step_full_stop(&mut self, stop: char, out: &mut String, is_last: bool) -> bool {
        let mut after = self.held[stop.len_utf8()..].chars();
        let wide = !stop.is_ascii();
        let ends = match after.next() {
            Some(next) if next.is_whitespace() => {
                let rest = self.held[stop.len_utf8()..].trim_start_matches([' ', '\t']);
                match rest.chars().next() {
                    Some('[') => false,
                    Some(_) => true,
                    None if is_last => true,
                    None => return false,
                }
            }
            Some('[') => false,
            Some(_) => wide,
            None if is_last => true,
            None => return false,
        };
        self.pass(stop, out);
        if ends {
            self.end_sentence(out);
        }
        true
    }

    /// Shows one letter of text.
    fn pass(&mut self, letter: char, out: &mut String) {
        self.held.drain(..letter.len_utf8());
        // What a dropped marker leaves behind, as in `[[9]1]`, must not become one.
        if letter == ']' && std::mem::take(&mut self.looks_like_marker) && self.last_shown != Some('[') {
            return;
        }
        self.looks_like_marker = match letter {
            '[' => true,
            '0'..='9' | ',' | ';' | ' ' => self.looks_like_marker,
            _ => false,
        };
        self.say(letter.encode_utf8(&mut [0; 4]), out);
    }

    /// Shows code, in which brackets are text.
    fn pass_all(&mut self, code: &str, out: &mut String) {
        self.looks_like_marker = false;
        self.say(code, out);
    }

    /// Shows text that belongs to the sentence under way, or begins the next one.
    fn say(&mut self, text: &str, out: &mut String) {
        if !self.cited.is_empty() && text.contains(char::is_alphanumeric) {
            self.checked += 1;
            self.begin_sentence();
        }
        let closes = text.starts_with(|letter: char| {
            letter.is_whitespace() || matches!(letter, '.' | ',' | ';' | ':' | '!' | '?' | ')')
        });
        if std::mem::take(&mut self.owes_space) && !closes {
            self.sentence.push(' ');
            self.write(" ", out);
        }
        self.sentence.push_str(text);
        self.write(text, out);
    }
}
