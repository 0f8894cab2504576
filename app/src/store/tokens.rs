//! Text to the tokens of the keyword index.
//!
//! * Words: NFKC, lowercased, Latin accents removed, English stems.
//! * Codes and names such as `BENCH-100821`, `snake_case`, `1.2.3`, `C++`: whole, and their parts as words.
//! * `camelCase`: whole, and its parts.
//! * Scripts written without spaces (Chinese, Japanese, Korean, Thai, …): overlapping pairs of characters; an index
//!   also holds the single characters, so that a query of one character finds them.
//!
//! Invariant: a token holds letters, digits and the joiners `-_.:/@+#` only, which the FTS5 tokenizer of the schema
//! keeps together. Any text is valid.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

/// Longer words are cut: nobody asks for them, and encoded data would fill the index.
const MAX_WORD_CHARS: usize = 64;
const JOINERS: [char; 8] = ['-', '_', '.', ':', '/', '@', '+', '#'];

/// Tokens of a text to be indexed, in reading order.
pub fn index_tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    tokenize(text, Side::Index, &mut |_, token| tokens.push(token));
    tokens
}

/// Distinct tokens of a question, sorted. Function words ("what is the …") are left out unless there is nothing
/// else.
pub fn query_tokens(text: &str) -> BTreeSet<String> {
    let (mut content, mut function) = (BTreeSet::new(), BTreeSet::new());
    tokenize(text, Side::Query, &mut |word, token| {
        if is_function_word(word) {
            function.insert(token);
        } else {
            content.insert(token);
        }
    });
    if content.is_empty() { function } else { content }
}

/// Whether a query token of an unspaced script is made of grammar: a pair with a particle or an interrogative in it
/// says nothing about the subject, and mostly lies across a word's end.
pub fn is_grammar_pair(token: &str) -> bool {
    let particles = "的了是在和与或吗呢吧啊个之也都就而及于对从以为被把这那哪谁怎呀么由其此每几はがをにでともへかの";
    let interrogatives = ["多少", "多久", "多大", "多长", "多高", "多远", "如何"];
    let is_pair = token.chars().count() == 2 && token.chars().all(is_unspaced);
    is_pair && (token.contains(|c| particles.contains(c)) || interrogatives.contains(&token))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Index,
    Query,
}

/// Calls `emit` with each surface form (lowercased) and its token.
fn tokenize(text: &str, side: Side, emit: &mut dyn FnMut(&str, String)) {
    let text: String = text.nfkc().map(plain_apostrophe).collect();
    let stemmer = Stemmer::create(Algorithm::English);
    let mut rest = text.as_str();
    while let Some(start) = rest.find(char::is_alphanumeric) {
        rest = &rest[start..];
        let unspaced = rest.find(|c| !is_unspaced(c)).unwrap_or(rest.len());
        let end = if unspaced > 0 {
            emit_unspaced(&rest[..unspaced], side, emit);
            unspaced
        } else {
            let end = word_end(rest);
            emit_word(&rest[..end], &stemmer, emit);
            end
        };
        rest = &rest[end..];
    }
}

fn plain_apostrophe(c: char) -> char {
    if matches!(c, '\u{2019}' | '\u{2018}' | '\u{ff07}') { '\'' } else { c }
}

/// Byte where the word at the start of `text` ends: joiners and apostrophes belong to it when a letter or digit
/// follows; `+` and `#` also at its end (`C++`).
fn word_end(text: &str) -> usize {
    let mut end = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map(|&(_, next)| next);
        let next_is_word = next.is_some_and(|next| next.is_alphanumeric() && !is_unspaced(next));
        let goes_on = if c.is_alphanumeric() || is_mark(c) {
            !is_unspaced(c)
        } else if matches!(c, '+' | '#') {
            next_is_word || !next.is_some_and(char::is_alphanumeric)
        } else {
            (JOINERS.contains(&c) || c == '\'') && next_is_word
        };
        if !goes_on {
            break;
        }
        end = at + c.len_utf8();
    }
    end
}

fn emit_word(word: &str, stemmer: &Stemmer, emit: &mut dyn FnMut(&str, String)) {
    let parts: Vec<&str> = word.split(JOINERS).filter(|part| !part.is_empty()).collect();
    if parts.len() > 1 || word.ends_with(['+', '#']) {
        emit_whole(word, emit);
    }
    for part in parts {
        let humps = humps(part);
        if humps.len() > 1 {
            emit_whole(part, emit);
        }
        for hump in humps {
            let surface = fold(hump);
            let token = stem(&surface, stemmer);
            if !token.is_empty() {
                emit(&surface, token);
            }
        }
    }
}

/// Codes and names are kept whole while they are short enough to be meant as one.
fn emit_whole(word: &str, emit: &mut dyn FnMut(&str, String)) {
    if word.chars().count() <= MAX_WORD_CHARS {
        let whole = fold(word).replace('\'', "");
        emit(&whole, whole.clone());
    }
}

fn emit_unspaced(run: &str, side: Side, emit: &mut dyn FnMut(&str, String)) {
    let characters: Vec<char> = run.chars().collect();
    if side == Side::Index || characters.len() == 1 {
        for c in &characters {
            emit(run, c.to_string());
        }
    }
    for pair in characters.windows(2) {
        emit(run, pair.iter().collect());
    }
}

/// Splits `camelCase` and `HTTPServer` into their parts.
fn humps(word: &str) -> Vec<&str> {
    let characters: Vec<(usize, char)> = word.char_indices().collect();
    let mut starts = vec![0];
    for window in 1..characters.len() {
        let (before, (at, here)) = (characters[window - 1].1, characters[window]);
        let after_is_lower = characters.get(window + 1).is_some_and(|(_, c)| c.is_lowercase());
        let rises = before.is_lowercase() && here.is_uppercase();
        let acronym_ends = before.is_uppercase() && here.is_uppercase() && after_is_lower;
        if rises || acronym_ends {
            starts.push(at);
        }
    }
    starts.push(word.len());
    starts.windows(2).map(|ends| &word[ends[0]..ends[1]]).collect()
}

/// Lowercase, without Latin accents.
fn fold(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let lower = word.to_lowercase();
    lower.nfd().filter(|&c| !is_accent(c)).nfc().collect()
}

fn stem(surface: &str, stemmer: &Stemmer) -> String {
    let stemmed = if surface.bytes().all(|b| b.is_ascii_alphabetic() || b == b'\'') {
        stemmer.stem(surface)
    } else {
        Cow::Borrowed(surface)
    };
    stemmed.chars().filter(|&c| c != '\'').take(MAX_WORD_CHARS).collect()
}

fn is_accent(c: char) -> bool {
    matches!(c, '\u{0300}'..='\u{036f}')
}

/// Marks that belong to the letter before them but are not alphabetic themselves.
fn is_mark(c: char) -> bool {
    is_accent(c) || matches!(c, '\u{0591}'..='\u{05c7}' | '\u{064b}'..='\u{065f}' | '\u{0900}'..='\u{0dff}')
}

pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}'         // Thai, Lao
        | '\u{1000}'..='\u{109f}'       // Burmese
        | '\u{1100}'..='\u{11ff}'       // Hangul jamo
        | '\u{1780}'..='\u{17ff}'       // Khmer
        | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{30fa}'       // kana
        | '\u{30fc}'..='\u{318f}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'       // Han
        | '\u{ac00}'..='\u{d7af}'       // Hangul
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}')
}

/// English words that carry no subject; with them a question would reach nearly every passage.
fn is_function_word(surface: &str) -> bool {
    const WORDS: &[&str] = &[
        "a", "about", "am", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do",
        "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "it's", "its", "me",
        "my", "of", "on", "or", "our", "shall", "should", "so", "than", "that", "the", "their", "them", "then",
        "there", "these", "they", "this", "those", "to", "was", "we", "were", "what", "what's", "when", "where",
        "which", "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
    ];
    WORDS.binary_search(&surface).is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn indexed(text: &str) -> Vec<String> {
        index_tokens(text)
    }

    fn asked(text: &str) -> Vec<String> {
        query_tokens(text).into_iter().collect()
    }

    #[test]
    fn words_are_folded_and_stemmed() {
        assert_eq!(indexed("Running CAFÉS, naïve ﬁles"), ["run", "cafe", "naiv", "file"]);
        assert_eq!(indexed("the fox's don’t"), ["the", "fox", "dont"]);
    }

    #[test]
    fn codes_are_kept_whole_and_in_parts() {
        assert_eq!(indexed("BENCH-100821"), ["bench-100821", "bench", "100821"]);
        assert_eq!(indexed("use foo_bar(1.2.3)"), ["use", "foo_bar", "foo", "bar", "1.2.3", "1", "2", "3"]);
        assert_eq!(indexed("C++ and C#."), ["c++", "c", "and", "c#", "c"]);
        assert_eq!(indexed("HTTPServer fileName"), ["httpserver", "http", "server", "filename", "file", "name"]);
        assert_eq!(indexed("--flag a:b"), ["flag", "a:b", "a", "b"]);
    }

    #[test]
    fn unspaced_scripts_become_pairs() {
        assert_eq!(asked("東京都"), ["京都", "東京"]);
        assert_eq!(asked("猫"), ["猫"]);
        assert_eq!(indexed("猫が"), ["猫", "が", "猫が"]);
        assert_eq!(indexed("Rust入門"), ["rust", "入", "門", "入門"]);
        // Kana keep their voicing marks.
        assert_eq!(indexed("が"), ["が"]);
    }

    #[test]
    fn questions_lose_function_words_unless_they_are_all_there_is() {
        assert_eq!(asked("What is the boiling point?"), ["boil", "point"]);
        assert_eq!(asked("to be or not"), ["not"]);
        assert_eq!(asked("what is it"), ["is", "it", "what"]);
    }

    #[test]
    fn pairs_with_particles_are_grammar() {
        for token in ["的温", "度和", "多少", "猫が"] {
            assert!(is_grammar_pair(token), "{token}");
        }
        for token in ["温度", "岩芯", "的", "rust", "a的"] {
            assert!(!is_grammar_pair(token), "{token}");
        }
    }

    #[test]
    fn function_words_are_sorted_for_the_search() {
        for word in ["a", "it's", "your", "what's", "which", "into"] {
            assert!(is_function_word(word), "{word}");
        }
        assert!(!is_function_word("fox"));
    }

    proptest! {
        #[test]
        fn any_text_gives_tokens_that_fts5_keeps_whole(text in any::<String>()) {
            for token in index_tokens(&text) {
                prop_assert!(!token.is_empty());
                prop_assert!(token.chars().all(|c| !c.is_ascii() || c.is_ascii_alphanumeric() || JOINERS.contains(&c)), "{token:?}");
                prop_assert!(!token.chars().any(char::is_whitespace));
            }
        }

        #[test]
        fn every_query_token_of_a_text_is_in_its_index(text in "[a-zA-Z0-9 .,'’_+#:/@猫が東京é-]{0,40}") {
            let index: BTreeSet<String> = index_tokens(&text).into_iter().collect();
            prop_assert!(query_tokens(&text).is_subset(&index));
        }
    }
}
