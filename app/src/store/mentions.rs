//! How often a text mentions some words, in any form: "dike" counts "Dikes" too.

use std::collections::BTreeSet;

use super::tokens::{index_tokens, is_unspaced, query_tokens};

/// Whether `text` holds each of `words`, wherever.
pub(crate) fn holds_all(text: &str, words: &str) -> bool {
    let tokens: BTreeSet<String> = index_tokens(text).into_iter().collect();
    query_tokens(words).is_subset(&tokens)
}

/// How often `words` stand in `text` one after the other.
pub(crate) fn count_mentions(text: &str, words: &str) -> usize {
    // The tokens of a script without spaces are not in one order.
    if words.chars().any(is_unspaced) {
        return text.to_lowercase().matches(&words.to_lowercase()).count();
    }
    let (tokens, wanted) = (index_tokens(text), index_tokens(words));
    if wanted.is_empty() {
        return 0;
    }
    let mut times = 0;
    let mut rest = tokens.as_slice();
    while rest.len() >= wanted.len() {
        let is_mention = rest.starts_with(&wanted);
        times += usize::from(is_mention);
        rest = &rest[if is_mention { wanted.len() } else { 1 }..];
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_in_any_form_and_phrases_where_they_stand_together() {
        let text = "Basalt dikes cut the tuff. A DIKE of basalt, the dike's rim: Storr-Tuff. Tuff of Storr.";
        for (words, times) in
            [("dike", 3), ("basalt", 2), ("storr tuff", 1), ("tuff", 3), ("basalt dike", 1), ("granite", 0), ("", 0)]
        {
            assert_eq!(count_mentions(text, words), times, "{words}");
        }
        assert_eq!(count_mentions("Probe BENCH-100821 and bench-100821.", "bench-100821"), 2);
        assert_eq!(count_mentions("na na na na", "na na"), 2);
    }

    #[test]
    fn words_without_spaces_between_them_are_counted() {
        assert_eq!(count_mentions("花崗岩は硬い。花崗岩も、花崗も。", "花崗岩"), 2);
    }

    #[test]
    fn all_words_may_stand_anywhere() {
        assert!(holds_all("Tuff of Storr.", "the Storr tuffs") && !holds_all("Tuff.", "storr tuff"));
    }
}
