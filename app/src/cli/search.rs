//! `outcrop search`.

use std::io::IsTerminal as _;

use super::Ending;
use super::args::SearchVerb;
use super::error::CliError;
use super::json::SearchJson;
use super::output::{print_json, print_line};
use super::session::Session;
use crate::extract::Place;
use crate::library::Access;
use crate::retrieve::{HitScores, SearchHit, SearchOptions, SearchResults, densest_stretch, word_matches};

/// Prints ranked passages.
pub(super) fn run(session: &Session, verb: &SearchVerb) -> Result<Ending, CliError> {
    let options = checked(verb.search.options()?)?;
    let results = session.open_library(Access::Read)?.search_until(&verb.query, &options, &session.cancel)?;
    note_missing_vectors(session, &results);
    results.notes.iter().for_each(|note| session.note(note));
    if session.global.json {
        print_json(&SearchJson::new(results, verb.explain))?;
    } else {
        print_results(&results, verb.explain);
    }
    Ok(Ending::Done)
}

/// Says what the vector leg could not see, and that there is nothing to find.
fn note_missing_vectors(session: &Session, results: &SearchResults) {
    if results.without_vectors > 0 {
        session.note(&format!(
            "{} of {} passages have vectors of another model and are found by their words alone; `outcrop ingest` of \
             their files gives them new ones",
            results.without_vectors, results.searched
        ));
    }
}

/// The options, or wrong usage.
pub(super) fn checked(options: SearchOptions) -> Result<SearchOptions, CliError> {
    options.check().map_err(|err| CliError::Usage(err.to_string()))?;
    Ok(options)
}

fn print_results(results: &SearchResults, explain: bool) {
    for hit in &results.hits {
        print_line(&format!(
            "{}. {}  {}",
            hit.rank,
            score_text(hit, explain),
            source_text(&hit.path, &hit.chunk.place)
        ));
        print_line(&format!("   {}", excerpt(&hit.chunk.text, &results.query)));
        if hit.also > 0 {
            print_line(&format!("   and {} more like it", hit.also));
        }
    }
    if results.searched == 0 && !results.query.trim().is_empty() {
        print_line("there was nothing to search: the library, or what the filters leave of it, is empty");
    }
    let reranked = results.reranked_by.as_ref().map(|by| format!(", ranked again by {by}")).unwrap_or_default();
    let (passages, took_ms) = (results.hits.len(), results.took_ms);
    print_line(&format!("{passages} passages in {took_ms:.0} ms on the {}{reranked}", results.backend));
    if explain {
        super::explain::print(results);
    }
}

/// Every score by its name; without `explain` the ranking one alone.
fn score_text(hit: &SearchHit, explain: bool) -> String {
    let HitScores { vector, keyword, rerank, fused } = hit.scores;
    let named = [("rerank", rerank), ("fused", fused), ("cosine", vector), ("BM25", keyword)];
    let mut present = named.iter().filter_map(|(name, score)| score.map(|score| format!("{name} {score:.3}")));
    if explain { present.collect::<Vec<_>>().join(", ") } else { present.next().unwrap_or_default() }
}

/// The file and the place in it, for people.
pub(super) fn source_text(path: &std::path::Path, place: &Place) -> String {
    let mut parts = vec![path.display().to_string()];
    match (place.pages, place.rows) {
        (Some((first, last)), _) => parts.push(span_text("p.", first, last)),
        (None, Some((first, last))) => parts.push(span_text("row", first, last)),
        (None, None) => parts.push(span_text("line", place.lines.0, place.lines.1)),
    }
    if !place.heading.is_empty() {
        parts.push(place.heading.join(" › "));
    }
    parts.join(" · ")
}

fn span_text(unit: &str, first: u32, last: u32) -> String {
    if first == last { format!("{unit} {first}") } else { format!("{unit} {first}–{last}") }
}

/// Characters of a passage that a list of hits shows.
const EXCERPT_CHARS: usize = 300;

/// Where most words of the query stand in a passage, on one line; the words are bold on a terminal.
fn excerpt(text: &str, query: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let stretch = densest_stretch(&line, &word_matches(&line, query), EXCERPT_CHARS);
    let (before, after) = (stretch.start > 0, stretch.end < line.len());
    let mut shown = line[stretch].to_owned();
    if std::io::stdout().is_terminal() {
        for word in word_matches(&shown, query).into_iter().rev() {
            shown.insert_str(word.end, "\x1b[0m");
            shown.insert_str(word.start, "\x1b[1m");
        }
    }
    format!("{}{shown}{}", if before { "…" } else { "" }, if after { "…" } else { "" })
}

/// The start of a passage on one line, at most `most_chars` characters.
pub(super) fn snippet(text: &str, most_chars: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most_chars) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_is_one_line_and_cut_between_characters() {
        assert_eq!(snippet("a\n  b\tc", 10), "a b c");
        assert_eq!(snippet("ääää", 2), "ää…");
    }

    #[test]
    fn an_excerpt_shows_where_the_words_stand() {
        let text = format!("{}the granite\noutcrop stands. {}", "filler goes on ".repeat(60), "and on ".repeat(60));
        let shown = excerpt(&text, "granite outcrop");
        assert!(shown.contains("granite outcrop") && shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        assert_eq!(excerpt("short", "none"), "short");
    }

    #[test]
    fn a_place_names_pages_before_lines() {
        let place = Place { pages: Some((3, 4)), heading: vec!["A".into(), "B".into()], rows: None, lines: (1, 9) };
        assert_eq!(source_text(std::path::Path::new("x.pdf"), &place), "x.pdf · p. 3–4 · A › B");
    }
}
