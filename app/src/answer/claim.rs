//! [`Claim`]: a sentence of an answer, taken apart into what must be checked.

use std::collections::HashSet;

use unicode_segmentation::UnicodeSegmentation;

use super::measures::{Measure, measures, unit};
use super::subjects::{begins_anew, subjects};
use super::words::{Term, stem_of, term_set};

/// Shortest quotation that must stand in a passage word for word, in words.
const MIN_QUOTE_WORDS: usize = 2;

/// How many words after a "not" it may deny.
const DENIED_WORDS: usize = 3;

/// Words that turn a statement round.
const NEGATIONS: [&str; 13] = [
    "not", "no", "never", "without", "none", "neither", "nor", "cannot", "nobody", "nothing", "nowhere", "hardly",
    "unless",
];
/// Words that can carry a "not" of somebody else's wording: *daily except Sunday* is *not on Sunday*.
const EXCLUSIONS: [&str; 7] = ["except", "excluding", "exclude", "excludes", "only", "lack", "lacks"];

/// Most sentences of a passage that one sentence may rest on.
const SENTENCE_SPAN: usize = 2;

/// One sentence of an answer, a row of a table in it, or a code block.
pub(super) struct Claim {
    /// Words that carry meaning, numbers among them.
    pub(super) words: HashSet<Term>,
    /// Names, as stems and as they are written.
    pub(super) names: Vec<(String, String)>,
    /// Capitalised words that begin it, or a clause of it, and stand there like a name; as stems and as written.
    pub(super) subjects: Vec<(String, String)>,
    /// Numbers with their units.
    pub(super) measures: Vec<Measure>,
    /// Stretches in quotation marks, as [`plain`] text.
    pub(super) quotes: Vec<String>,
    /// Whether it says that something is not so.
    pub(super) is_negated: bool,
    /// The sentence as [`plain`] text.
    pub(super) plain: String,
    /// How many sentences or lines of a passage it may rest on.
    pub(super) span: usize,
    /// Whether it is code, in which "not" and quotation marks are signs like others.
    pub(super) is_code: bool,
}

impl Claim {
    /// Takes a sentence apart.
    pub(super) fn new(sentence: &str) -> Self {
        Self {
            words: term_set(sentence),
            names: names(sentence),
            subjects: subjects(sentence),
            measures: measures(sentence),
            quotes: quotes(sentence),
            is_negated: negates(sentence),
            plain: plain(sentence),
            span: SENTENCE_SPAN,
            is_code: false,
        }
    }

    /// Takes a row of a table apart. The numbers of its header must be right too; the header's other words count only
    /// where the row has none of its own.
    pub(super) fn of_row(row: &str, header: &str) -> Self {
        let mut claim = Self::new(row);
        let has_words = claim.words.iter().any(|term| !term.has_digits);
        if claim.says_something() {
            claim.words.extend(term_set(header).into_iter().filter(|term| term.has_digits || !has_words));
        }
        claim
    }

    /// Takes a code block apart. Of its identifiers those that are made of several words are names.
    pub(super) fn of_code(code: &str) -> Self {
        let lines = code.lines().filter(|line| line.contains(char::is_alphanumeric)).count();
        Self {
            words: term_set(code),
            names: identifiers(code),
            subjects: Vec::new(),
            measures: Vec::new(),
            quotes: Vec::new(),
            is_negated: false,
            plain: plain(code),
            span: lines.max(SENTENCE_SPAN),
            is_code: true,
        }
    }

    /// Whether there is anything to check: "It is." says nothing.
    pub(super) fn says_something(&self) -> bool {
        !self.words.is_empty()
    }

    /// Its numbers.
    pub(super) fn numbers(&self) -> impl Iterator<Item = &Term> {
        self.words.iter().filter(|term| term.has_digits)
    }
}

/// Words in lower case with one space around each, so that one text can be looked for in another.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len() + 2);
    plain.push(' ');
    for word in text.unicode_words() {
        plain.push_str(&word.to_lowercase());
        plain.push(' ');
    }
    plain
}

/// Whether a text says "not" in a way that turns it round.
pub(super) fn negates(text: &str) -> bool {
    text.unicode_words().any(is_negation) || negates_in_chinese(text)
}

fn is_negation(word: &str) -> bool {
    let lower = word.to_lowercase();
    NEGATIONS.contains(&lower.as_str()) || lower.ends_with("n't") || lower.ends_with("n’t")
}

/// Whether a text denies something that `words` say: a "not" with one of them among the next few words.
pub(super) fn denies_any(text: &str, words: &HashSet<Term>) -> bool {
    let said: Vec<&str> = text.unicode_words().collect();
    let denies = |at: usize| {
        let next = said[at + 1..].iter().take(DENIED_WORDS);
        is_negation(said[at]) && next.copied().any(|word| term_set(word).iter().any(|term| words.contains(term)))
    };
    (0..said.len()).any(denies) || denies_in_chinese(text, words)
}

/// The same for a script without spaces: of the parts between signs, the one that says most of `words` counts.
fn denies_in_chinese(text: &str, words: &HashSet<Term>) -> bool {
    let parts = text.split(['，', ',', '、', '；', '。', '：', '\n']);
    let nearest = parts.max_by_key(|part| term_set(part).intersection(words).count());
    nearest.is_some_and(negates_in_chinese)
}

/// Whether a text leaves something out without a "not".
pub(super) fn excludes(text: &str) -> bool {
    text.unicode_words().any(|word| EXCLUSIONS.contains(&word.to_lowercase().as_str()))
}

/// Signs of negation, where they are not part of another word ("非常", very).
fn negates_in_chinese(text: &str) -> bool {
    let others = ["不同", "不过", "不断", "不仅", "不但", "不少"];
    let without = others.iter().fold(text.to_owned(), |text, other| text.replace(other, ""));
    without.contains(['不', '未']) || without.contains("没有")
}

/// Capitalised words that do not begin the sentence, and words in capitals.
fn names(sentence: &str) -> Vec<(String, String)> {
    let is_acronym = |word: &str| word.chars().count() > 1 && word.chars().all(char::is_uppercase);
    // *EUR* is what others write *€*.
    let is_unit = |word: &str| is_acronym(word) && unit(&word.to_lowercase()).is_some();
    let mut found = Vec::new();
    for (position, (at, word)) in sentence.unicode_word_indices().enumerate() {
        let is_capitalised = word.starts_with(char::is_uppercase) && word != "I";
        let is_name = is_acronym(word) || (position > 0 && is_capitalised && !begins_anew(&sentence[..at]));
        found.extend(stem_of(word).filter(|_| is_name && !is_unit(word)).map(|stem| (stem, word.to_owned())));
    }
    found
}

/// Words of code such as `read_line`, `readLine` and `os.path`.
fn identifiers(code: &str) -> Vec<(String, String)> {
    let is_compound = |word: &&str| {
        let has_capital_inside = word.chars().skip(1).any(char::is_uppercase) && word.contains(char::is_lowercase);
        word.contains(['_', '.']) || has_capital_inside
    };
    let compound = code.unicode_words().filter(is_compound);
    compound.filter_map(|word| stem_of(word).map(|stem| (stem, word.to_owned()))).collect()
}

fn quotes(sentence: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (open, close) in [('“', '”'), ('"', '"'), ('「', '」')] {
        let mut rest = sentence;
        while let Some((_, after)) = rest.split_once(open) {
            let Some((inside, behind)) = after.split_once(close) else {
                break;
            };
            if inside.unicode_words().count() >= MIN_QUOTE_WORDS {
                found.push(plain(inside));
            }
            rest = behind;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_capitals_inside_a_sentence() {
        let claim = Claim::new("The Storr Tuff was dated by NASA in Beijing: Basalt came later.");
        let written: Vec<&str> = claim.names.iter().map(|(_, written)| written.as_str()).collect();
        assert_eq!(written, ["Storr", "Tuff", "NASA", "Beijing"]);
        assert!(Claim::new("Basalt is hard.").names.is_empty());
    }

    #[test]
    fn a_row_of_numbers_is_read_with_its_header() {
        let words = |row| {
            let mut words: Vec<String> =
                Claim::of_row(row, "| Year 2019 | Boats |").words.into_iter().map(|term| term.text).collect();
            words.sort();
            words
        };
        assert_eq!(words("| 12 | 15 |"), ["12", "15", "2019", "boat", "year"]);
        assert_eq!(words("| rain | 15 |"), ["15", "2019", "rain"]);
        assert!(words("| - |").is_empty());
    }

    #[test]
    fn names_of_code_are_made_of_several_words() {
        let claim = Claim::of_code("let not_read = readLine(path);\nif !not_read { os.exit(1) }");
        let written: Vec<&str> = claim.names.iter().map(|(_, written)| written.as_str()).collect();
        assert_eq!(written, ["not_read", "readLine", "not_read", "os.exit"]);
        assert!(!claim.is_negated && claim.span == 2);
    }

    #[test]
    fn negations_are_seen_in_any_form() {
        for text in ["It does not sail.", "It doesn't sail.", "No boat sails.", "船不开"] {
            assert!(Claim::new(text).is_negated, "{text}");
        }
        for text in ["It sails daily.", "Notice is due.", "厚度不同"] {
            assert!(!Claim::new(text).is_negated, "{text}");
        }
        assert!(excludes("daily except Sunday"));
    }

    #[test]
    fn quotations_are_kept_word_for_word() {
        assert_eq!(Claim::new("It says “two missed  calls” and \"x\".").quotes, [" two missed calls "]);
    }
}
