//! Names at the beginning of a sentence or clause, where every word has a capital.
//!
//! The rule: the word is no grammar word and no common opening, it lacks the endings of common nouns, and it stands
//! like a name: *Harold's reign*, or, other names between them left out, right before a verb in the singular or the
//! past, with nothing but spaces and signs of emphasis between (*Harold ruled*, *Harold Godwinson was*). Words in the plural, words before *are* or *were*,
//! imperatives (*Press the button*) and words after which a comma stands are no names. So *Payment is made* and
//! *Boats must wait* pass though a passage says *is paid* or *a boat*.

use unicode_segmentation::UnicodeSegmentation;

use super::words::stem_of;

/// Words that begin sentences and name nobody: connectives, quantities, and nouns that stand without an article.
const COMMON: [&str; 96] = [
    "according",
    "additionally",
    "afterwards",
    "again",
    "almost",
    "alone",
    "already",
    "although",
    "another",
    "anyone",
    "anything",
    "because",
    "bread",
    "children",
    "code",
    "context",
    "data",
    "death",
    "each",
    "earth",
    "either",
    "else",
    "enough",
    "even",
    "ever",
    "every",
    "everybody",
    "everyone",
    "everything",
    "fewer",
    "first",
    "food",
    "fuel",
    "further",
    "furthermore",
    "gold",
    "half",
    "health",
    "heat",
    "hence",
    "history",
    "however",
    "instead",
    "land",
    "law",
    "less",
    "life",
    "light",
    "like",
    "love",
    "many",
    "maybe",
    "men",
    "moreover",
    "much",
    "neither",
    "nobody",
    "none",
    "nothing",
    "now",
    "oil",
    "once",
    "others",
    "otherwise",
    "overtime",
    "part",
    "people",
    "per",
    "perhaps",
    "power",
    "rain",
    "respectively",
    "second",
    "several",
    "since",
    "sleep",
    "snow",
    "somebody",
    "someone",
    "something",
    "soon",
    "staff",
    "still",
    "third",
    "though",
    "thus",
    "time",
    "today",
    "together",
    "tomorrow",
    "trade",
    "war",
    "water",
    "whatever",
    "women",
    "yesterday",
];
/// Endings of common nouns, adverbs and participles.
const COMMON_ENDINGS: [&str; 22] = [
    "ment", "tion", "sion", "ness", "ity", "ance", "ence", "ancy", "ency", "ship", "age", "ism", "ure", "ing", "ly",
    "ed", "ery", "ics", "ogy", "phy", "ware", "work",
];
/// Verbs that only a singular goes with.
const SINGULAR_VERBS: [&str; 4] = ["is", "was", "has", "does"];
/// Other verbs that follow a subject, irregular past forms among them.
const VERBS: [&str; 56] = [
    "became", "began", "began", "bought", "broke", "brought", "built", "came", "can", "chose", "could", "did", "drew",
    "fell", "felt", "flew", "fought", "found", "gave", "got", "grew", "had", "held", "kept", "knew", "laid", "led",
    "left", "lost", "made", "may", "meant", "met", "might", "must", "paid", "ran", "rose", "said", "sang", "saw",
    "sent", "set", "shall", "should", "sold", "spoke", "stood", "taught", "thought", "told", "took", "went", "will",
    "won", "wrote",
];
/// Words that end like a past form.
const NO_PAST: [&str; 9] = ["bed", "breed", "feed", "hundred", "need", "red", "seed", "shed", "speed"];

/// Words at the beginning of `sentence`, or of a clause or cell in it, that stand there like a name; as stems and as they
/// are written.
pub(super) fn subjects(sentence: &str) -> Vec<(String, String)> {
    let words: Vec<(usize, &str)> = sentence.unicode_word_indices().collect();
    let begins = |index: &usize| *index == 0 || begins_anew(&sentence[..words[*index].0]);
    let names = (0..words.len()).filter(begins).filter(|index| is_name(sentence, &words[*index..]));
    names.filter_map(|index| stem_of(words[index].1).map(|stem| (stem, words[index].1.to_owned()))).collect()
}

/// Whether a clause, a quotation, a list item or a cell begins after `before`, where a capital says nothing.
pub(super) fn begins_anew(before: &str) -> bool {
    before.trim_end().ends_with([':', '"', '“', '”', '.', '!', '?', '*', '-', '(', '|', '#'])
}

fn is_name(sentence: &str, words: &[(usize, &str)]) -> bool {
    let Some((_, first)) = words.first() else {
        return false;
    };
    let lower = first.to_lowercase();
    let bare = lower.trim_end_matches("'s").trim_end_matches("’s");
    let is_common = COMMON.contains(&bare) || COMMON_ENDINGS.iter().any(|ending| bare.ends_with(ending));
    if is_common || !is_capitalised(first) || first.chars().count() < 2 {
        return false;
    }
    let is_possessive = bare.len() < lower.len();
    is_possessive || verb_after_names(sentence, words).is_some_and(|verb| is_verb_of(bare, verb))
}

/// The word after the names that `words` begin with, if only spaces stand before it.
fn verb_after_names<'t>(sentence: &str, words: &[(usize, &'t str)]) -> Option<&'t str> {
    for ((at, word), (next_at, next)) in words.iter().zip(words.iter().skip(1)) {
        let gap = &sentence[at + word.len()..*next_at];
        // Signs of emphasis may stand around a name.
        let is_space =
            gap.contains([' ', '\u{a0}']) && gap.chars().all(|letter| matches!(letter, ' ' | '\u{a0}' | '*' | '_'));
        if !is_space {
            return None;
        }
        if !is_capitalised(next) {
            return Some(next);
        }
    }
    None
}

fn is_verb_of(subject: &str, verb: &str) -> bool {
    let may_be_plural = subject.ends_with('s') && !subject.ends_with("ss");
    let is_past = verb.ends_with("ed") && verb.len() > 3 && !NO_PAST.contains(&verb);
    SINGULAR_VERBS.contains(&verb) || (!may_be_plural && (VERBS.contains(&verb) || is_past))
}

fn is_capitalised(word: &str) -> bool {
    word.starts_with(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(sentence: &str) -> Vec<String> {
        subjects(sentence).into_iter().map(|(_, written)| written).collect()
    }

    #[test]
    fn what_stands_like_a_name_is_one() {
        for sentence in [
            "Harold ruled Normandy from 911.",
            "Harold was a duke.",
            "Harold Godwinson ruled from 911.",
            "**Harold** ruled.",
            "In short: Harold took it.",
            "Harold's reign began in 911.",
        ] {
            let name = found(sentence).first().map(|name| name.trim_end_matches("'s").to_owned());
            assert_eq!(name.as_deref(), Some("Harold"), "{sentence}");
        }
        assert_eq!(found("Paris is a town."), ["Paris"]);
    }

    #[test]
    fn other_openings_are_none() {
        for sentence in [
            "Payment is made per hour.",
            "Boats must wait.",
            "Small boats were stopped.",
            "People are paid.",
            "Press the red button.",
            "However, it was paid.",
            "Additionally, boats are extra.",
            "According to Rollo, it was so.",
            "Water is read at the mast.",
            "The boat was late.",
            "It was late.",
            "harold ruled.",
            "Hand-painted signs.",
        ] {
            assert!(found(sentence).is_empty(), "{sentence}: {:?}", found(sentence));
        }
    }
}
