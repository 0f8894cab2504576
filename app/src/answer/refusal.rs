//! What the app says when the library does not seem to hold the answer.

use std::fmt::Write;

use super::Citation;
use super::passage::Passage;

/// Nearest passages that are named.
const NEAREST: usize = 3;
const SNIPPET_CHARS: usize = 120;

/// Text and citations of a refusal.
pub(super) fn refusal(passages: &[Passage<'_>]) -> (String, Vec<Citation>) {
    if passages.is_empty() {
        let text = "Nothing in this library matches the question.".to_owned();
        return (text, Vec::new());
    }
    let nearest = &passages[..passages.len().min(NEAREST)];
    let mut text = "This library does not seem to hold an answer. The nearest passages are:\n".to_owned();
    for passage in nearest {
        let _ = write!(
            text,
            "\n- [{}] {} ({}): “{}”",
            passage.number,
            passage.label(),
            scores(passage),
            snippet(&passage.hit.chunk.text)
        );
    }
    (text, nearest.iter().map(Passage::cite_whole).collect())
}

/// The passage's scores by name.
fn scores(passage: &Passage<'_>) -> String {
    let scores = &passage.hit.scores;
    let named = [("cosine", scores.vector), ("BM25", scores.keyword)];
    let shown: Vec<String> =
        named.iter().filter_map(|(name, score)| score.map(|score| format!("{name} {score:.2}"))).collect();
    if shown.is_empty() { format!("score {:.2}", passage.hit.score) } else { shown.join(", ") }
}

fn snippet(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= SNIPPET_CHARS {
        return line;
    }
    let cut: String = line.chars().take(SNIPPET_CHARS).collect();
    format!("{}…", cut.trim_end())
}
