//! [`standalone`]: a follow-up question made to stand by itself, so that it can be searched for.
//!
//! No model is asked: a small one changes what was meant. What the question leaves to be understood is taken from the
//! question before it, word for word, and people see what was searched for.

use unicode_segmentation::UnicodeSegmentation;

use super::words::stem_of;

/// Words that point back at something said before.
const POINTERS: [&str; 15] =
    ["it", "its", "they", "them", "their", "he", "him", "his", "she", "her", "hers", "former", "latter", "他", "它"];
/// Words that do so in a short question.
const WEAK_POINTERS: [&str; 10] = ["that", "this", "these", "those", "there", "then", "one", "ones", "same", "both"];
/// Most words that carry meaning in a short question.
const SHORT_WORDS: usize = 3;
/// Beginnings that go on from what was said before.
const OPENINGS: [&str; 9] = ["and ", "but ", "what about", "how about", "or ", "so ", "also ", "why not", "what else"];
/// A question with fewer words that carry meaning leaves its subject to be understood.
const MIN_WORDS: usize = 2;

/// Beginnings of a question that names its subject, be that one word.
const DEFINITIONS: [&str; 13] = [
    "what is ",
    "what are ",
    "what was ",
    "what were ",
    "what does ",
    "who is ",
    "who was ",
    "who are ",
    "where is ",
    "when was ",
    "define ",
    "explain ",
    "describe ",
];

/// The question with the words it takes from the latest of `before` (oldest first); `None` where it stands by itself.
pub fn standalone(question: &str, before: &[String]) -> Option<String> {
    let previous = before.last().filter(|_| leans_back(question))?;
    let own: Vec<String> = question.unicode_words().filter_map(stem_of).collect();
    let mut taken: Vec<&str> = Vec::new();
    for word in previous.unicode_words() {
        let is_number = word.contains(|letter: char| letter.is_ascii_digit());
        let says_something = is_number || stem_of(word).is_some_and(|stem| !own.contains(&stem));
        if says_something && !taken.contains(&word) {
            taken.push(word);
        }
    }
    (!taken.is_empty()).then(|| format!("{} ({})", question.trim(), taken.join(" ")))
}

/// Whether a question cannot be understood without the one before it.
fn leans_back(question: &str) -> bool {
    let lower = question.trim().to_lowercase();
    let points = |pointers: &[&str]| lower.unicode_words().any(|word| pointers.contains(&word));
    let own = question.unicode_words().filter_map(stem_of).count();
    OPENINGS.iter().any(|opening| lower.starts_with(opening))
        || points(&POINTERS)
        || (own <= SHORT_WORDS && points(&WEAK_POINTERS))
        || (own < MIN_WORDS && (own == 0 || !DEFINITIONS.iter().any(|opening| lower.starts_with(opening))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(previous: &str, question: &str) -> Option<String> {
        standalone(question, &[previous.to_owned()])
    }

    #[test]
    fn what_is_left_to_be_understood_is_taken_from_before() {
        let paid = "How much is the Contractor paid per hour for standby time?";
        assert_eq!(
            after(paid, "And for boats?").as_deref(),
            Some("And for boats? (much Contractor paid per hour standby time)")
        );
        assert_eq!(
            after("How old is the Storr Tuff?", "How thick is it?").as_deref(),
            Some("How thick is it? (old Storr Tuff)")
        );
        assert_eq!(after("What happened in 1962?", "Why?").as_deref(), Some("Why? (happened 1962)"));
    }

    #[test]
    fn a_question_that_stands_by_itself_is_left_alone() {
        assert_eq!(after("How old is the Storr Tuff?", "Which instrument has an overdue calibration?"), None);
        assert_eq!(after("How old is the Storr Tuff?", "Which rule says that all drone flights stop in wind?"), None);
        assert_eq!(after("What is the capital of Peru?", "What is CRAN?"), None);
        assert!(after("How old is the Storr Tuff?", "What is that?").is_some());
        assert_eq!(standalone("And then?", &[]), None);
    }
}
