//! The place that the selected passage stands at: its pages as they look, or the text around it.

use std::sync::Arc;

use super::Loadable;
use crate::extract::PagePicture;

/// What the inspector shows of a passage's source.
#[derive(Clone, Debug, Default)]
pub struct PagesState {
    /// Number of the newest request.
    pub asked: u64,
    /// The pictures; none for formats whose pages cannot be drawn.
    pub pictures: Loadable<Vec<Arc<PagePicture>>>,
    /// Where no page was drawn, the text before and after the passage.
    pub around: Option<Surroundings>,
}

/// The text of a document before and after a passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// What stands before it, from the beginning of a line or word.
    pub before: String,
    /// What stands after it, to the end of a line or word.
    pub after: String,
}

/// Most bytes that are shown on each side.
const MOST_BYTES: usize = 480;

impl Surroundings {
    /// Around the bytes `start..end` of `text`; `None` where `passage` does not stand there (any more).
    pub fn of(text: &str, start: usize, end: usize, passage: &str) -> Option<Self> {
        (text.get(start..end)? == passage).then(|| Self { before: tail(&text[..start]), after: head(&text[end..]) })
    }
}

/// The end of `text` from where a line begins, else a word.
fn tail(text: &str) -> String {
    let from = text.ceil_char_boundary(text.len().saturating_sub(MOST_BYTES));
    if from == 0 {
        return text.to_owned();
    }
    let cut = &text[from..];
    let line = cut.find('\n').filter(|at| *at < MOST_BYTES / 2);
    let begin = line.or_else(|| cut.find(char::is_whitespace)).map_or(0, |at| at + 1);
    format!("… {}", cut.get(begin..).unwrap_or(cut).trim_start())
}

/// The beginning of `text` to where a line ends, else a word.
fn head(text: &str) -> String {
    let to = text.floor_char_boundary(MOST_BYTES);
    if to == text.len() {
        return text.to_owned();
    }
    let cut = &text[..to];
    let line = cut.rfind('\n').filter(|at| *at > MOST_BYTES / 2);
    let end = line.or_else(|| cut.rfind(char::is_whitespace)).unwrap_or(to);
    format!("{} …", cut[..end].trim_end())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use super::*;

    #[test]
    fn whole_lines_stand_around_a_passage() {
        let text = format!("{}\nline before\nIt is so.\nline after\n{}", "å".repeat(600), "z".repeat(600));
        let start = text.find("It is").unwrap();
        let around = Surroundings::of(&text, start, start + 9, "It is so.").unwrap();
        assert_eq!((around.before.as_str(), around.after.as_str()), ("… line before\n", "\nline after …"));
        assert_eq!(Surroundings::of(&text, start + 1, start + 10, "It is so."), None);
        assert_eq!(Surroundings::of(&text, 1, 3, "å"), None, "not at a letter's beginning");
        let short = Surroundings::of("a It is so. b", 2, 11, "It is so.").unwrap();
        assert_eq!((short.before.as_str(), short.after.as_str()), ("a ", " b"));
        let whole = Surroundings::of("It", 0, 2, "It").unwrap();
        assert_eq!((whole.before.as_str(), whole.after.as_str()), ("", ""));
    }

    #[test]
    fn text_without_spaces_is_cut_between_letters() {
        let text = "界".repeat(1000);
        let around = Surroundings::of(&text, 1500, 1503, "界").unwrap();
        assert!(around.before.ends_with('界') && around.after.starts_with('界'));
        assert!(around.before.len() <= MOST_BYTES + 8 && around.after.len() <= MOST_BYTES + 8);
    }
}
