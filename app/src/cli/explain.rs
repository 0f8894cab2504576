//! What `outcrop search --explain` says: what each leg found, and what became of every candidate near the hits.

use std::path::PathBuf;

use serde::Serialize;

use super::output::{print_line, print_table};
use super::search::{snippet, source_text};
use crate::extract::Place;
use crate::retrieve::{Considered, Near, SearchResults};
use crate::store::DocumentId;

/// A candidate as JSON.
#[derive(Serialize)]
pub(super) struct NearJson {
    #[serde(flatten)]
    considered: Considered,
    document: DocumentId,
    path: PathBuf,
    place: Place,
    start: usize,
    end: usize,
}

impl From<Near> for NearJson {
    fn from(near: Near) -> Self {
        let Near { considered, path, chunk, .. } = near;
        Self { considered, document: chunk.document, path, place: chunk.place, start: chunk.start, end: chunk.end }
    }
}

/// Prints the candidates, hits first.
pub(super) fn print(results: &SearchResults) {
    print_line("");
    let head = ["hit", "rerank", "fused", "vector", "words", "what became of it", "passage"];
    let mut rows: Vec<Vec<String>> = vec![head.map(str::to_owned).to_vec()];
    rows.extend(results.considered.iter().map(|near| row(near, results)));
    print_table(&rows);
    let outcomes: Vec<String> =
        results.outcomes.in_words().into_iter().map(|(number, what)| format!("{number} {what}")).collect();
    print_line(&format!("of all: {}", outcomes.join(", ")));
    print_line(&format!(
        "best cosine {}, the best hit holds {:.0} % of the query's words by weight; {} passages searched",
        results.best_cosine.map_or_else(|| "-".to_owned(), |cosine| format!("{cosine:.3}")),
        results.idf_coverage * 100.0,
        results.searched
    ));
}

fn row(near: &Near, results: &SearchResults) -> Vec<String> {
    let Considered { vector_rank, keyword_rank, first_rank, rerank_rank, final_rank, scores, .. } = near.considered;
    let rank = |rank: Option<usize>| rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string());
    let scored = |place: Option<usize>, score: Option<f32>| {
        rank(place) + &score.map_or_else(String::new, |score| format!(" ({score:.3})"))
    };
    vec![
        rank(final_rank),
        scored(rerank_rank, scores.rerank),
        scored(Some(first_rank), scores.fused),
        scored(vector_rank, scores.vector),
        scored(keyword_rank, scores.keyword),
        results.fate_text(near.considered.fate),
        format!("{}  {}", snippet(&source_text(&near.path, &near.chunk.place), 60), snippet(&near.chunk.text, 60)),
    ]
}
