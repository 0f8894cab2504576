//! [`route`]: questions that the best passages cannot answer, because they ask about all of them.

/// How a question is to be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// From the passages nearest to it.
    Passages,
    /// From passages spread over whole documents.
    Summary,
    /// By counting what the library holds.
    CountLibrary,
    /// By counting how often these words are mentioned, and in how many passages and documents.
    CountMentions(String),
}

/// What a library is made of.
const PARTS: [&str; 8] = ["documents", "document", "files", "file", "passages", "chunks", "pages", "文档"];
/// What separates the counted thing from the words that it must hold.
const MENTIONS: [&str; 9] = [
    " mention ",
    " mentions ",
    " contain ",
    " contains ",
    " talk about ",
    " refer to ",
    " are about ",
    " say ",
    " name ",
];
/// What begins a question for the number of mentions.
const TIMES: [&str; 2] = ["how many times ", "how often "];
/// Where mentions are counted, at the end of a question: everywhere.
const EVERYWHERE: [&str; 8] = [
    " in total",
    " in all",
    " in this library",
    " in the library",
    " in these documents",
    " in the documents",
    " in my documents",
    " in all documents",
];
/// Who mentions.
const HOLDERS: [&str; 8] =
    ["the documents", "these documents", "my documents", "all documents", "this library", "the library", "they", "it"];
/// Names words as words.
const AS_WORDS: [&str; 8] = ["the words ", "the word ", "the term ", "the name ", "the phrase ", "the ", "a ", "an "];
/// What asks for a summary, at the beginning of a question.
const SUMMARIES: [&str; 13] = [
    "summarise",
    "summarize",
    "give me a summary",
    "give a summary",
    "write a summary",
    "summary of",
    "give me an overview",
    "overview of",
    "what are these documents about",
    "what is this about",
    "what is this document about",
    "what are the main points",
    "总结",
];

/// The route of a question.
pub fn route(question: &str) -> Route {
    let lower = question.trim().trim_end_matches(['?', '.', '!', '？', '。']).to_lowercase();
    let polite = lower.trim_start_matches("please ").trim_start_matches("can you ").trim_start_matches("could you ");
    if SUMMARIES.iter().any(|beginning| polite.starts_with(beginning)) {
        return Route::Summary;
    }
    let words = mentioned(polite).filter(|words| !words.is_empty()).map(|words| Route::CountMentions(words.to_owned()));
    words.or_else(|| counting(polite)).unwrap_or(Route::Passages)
}

/// "How many times is basalt mentioned", "how often do the documents mention basalt".
fn mentioned(lower: &str) -> Option<&str> {
    let lower = EVERYWHERE.iter().find_map(|place| lower.strip_suffix(place)).unwrap_or(lower);
    if let Some(rest) = lower.strip_prefix("how many mentions of ") {
        return Some(named(rest.strip_suffix(" are there").unwrap_or(rest)));
    }
    let asked = TIMES.iter().find_map(|times| lower.strip_prefix(times))?;
    let (verb, rest) = asked.split_once(' ')?;
    match verb {
        "is" | "are" | "was" | "were" => rest.strip_suffix(" mentioned").map(named),
        "does" | "do" => {
            let rest = HOLDERS.iter().find_map(|holder| rest.strip_prefix(holder))?;
            rest.strip_prefix(" mention ").map(named)
        }
        _ => None,
    }
}

/// The words themselves.
fn named(words: &str) -> &str {
    let words = words.trim();
    let words = AS_WORDS.iter().find_map(|article| words.strip_prefix(article)).unwrap_or(words);
    words.trim().trim_matches(['"', '“', '”', '\'', '‘', '’'])
}

/// "How many documents mention basalt": only parts of a library are counted, never what they tell of.
fn counting(lower: &str) -> Option<Route> {
    let counted = lower.strip_prefix("how many ").or_else(|| lower.strip_prefix("有多少"))?;
    let part = PARTS.iter().find(|part| counted.starts_with(**part))?;
    let rest = &counted[part.len()..];
    if let Some(words) = MENTIONS.iter().find_map(|verb| rest.strip_prefix(verb)) {
        return Some(Route::CountMentions(named(words).to_owned()));
    }
    let is_whole =
        ["", " are there", " are in this library", " are in the library", " do i have", " does this library hold"]
            .contains(&rest.trim_end());
    is_whole.then_some(Route::CountLibrary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_and_counts_are_told_from_questions() {
        for question in ["Summarise this.", "please summarize the field manual", "What is this document about?"] {
            assert_eq!(route(question), Route::Summary, "{question}");
        }
        assert_eq!(route("How many documents are there?"), Route::CountLibrary);
        assert_eq!(route("How many files mention \"Storr Tuff\"?"), Route::CountMentions("storr tuff".to_owned()));
        for question in [
            "How many times is “Storr Tuff” mentioned?",
            "how often are the Storr Tuff mentioned in this library?",
            "How many times do the documents mention the word 'Storr Tuff'?",
            "How many mentions of Storr Tuff are there?",
        ] {
            assert_eq!(route(question), Route::CountMentions("storr tuff".to_owned()), "{question}");
        }
        for question in [
            "How many days of written notice end the drilling contract?",
            "How many pages long must the report be?",
            "How often is the pump serviced?",
            "How many times is basalt mentioned in the second report?",
            "How many times does the captain mention the storm?",
            "Which summary was sent?",
        ] {
            assert_eq!(route(question), Route::Passages, "{question}");
        }
    }
}
