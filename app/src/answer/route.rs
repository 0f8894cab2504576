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
    /// By counting the passages and documents that hold these words.
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
    counting(polite).unwrap_or(Route::Passages)
}

/// "How many documents mention basalt": only parts of a library are counted, never what they tell of.
fn counting(lower: &str) -> Option<Route> {
    let counted = lower.strip_prefix("how many ").or_else(|| lower.strip_prefix("有多少"))?;
    let part = PARTS.iter().find(|part| counted.starts_with(**part))?;
    let rest = &counted[part.len()..];
    if let Some(words) = MENTIONS.iter().find_map(|verb| rest.strip_prefix(verb)) {
        return Some(Route::CountMentions(words.trim_matches(['"', '“', '”', '\'']).to_owned()));
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
            "How many days of written notice end the drilling contract?",
            "How many pages long must the report be?",
            "Which summary was sent?",
        ] {
            assert_eq!(route(question), Route::Passages, "{question}");
        }
    }
}
