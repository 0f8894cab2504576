//! Questions about whole documents: passages spread over them, and counts.

use std::collections::BTreeSet;

use super::{Error, Library};
use crate::answer::{Answer, AnswerTimes, AskOptions};
use crate::retrieve::{
    DocumentFilter, HitScores, MatchKind, Outcomes, SearchHit, SearchMode, SearchOptions, SearchResults,
};
use crate::store::{ChunkRecord, DocumentRecord, DocumentStatus};

/// What answers that count are signed with.
const COUNTED_BY: &str = "library";
/// Passages offered to a summary; how many fit is the prompt's affair.
const MOST_PASSAGES: usize = 24;
/// Documents that a count names.
const MOST_NAMED: usize = 12;
/// Hits that a count looks at.
const MOST_COUNTED: usize = 100_000;

/// Passages spread over the documents that a question means: those it names, else those of the source filter.
pub(super) fn spread(library: &Library, question: &str, options: &SearchOptions) -> Result<SearchResults, Error> {
    let (documents, notes) = meant(library, question, options)?;
    let mut chunks = Vec::with_capacity(documents.len());
    for document in &documents {
        chunks.push(library.chunks(document.id)?);
    }
    let searched = chunks.iter().map(Vec::len).sum();
    let hits = documents
        .iter()
        .zip(&chunks)
        .flat_map(|(document, chunks)| chunks.iter().map(move |chunk| hit(document, chunk)).collect::<Vec<_>>());
    let hits: Vec<SearchHit> = hits.collect();
    let order = order(&chunks.iter().map(Vec::len).collect::<Vec<_>>());
    let chosen = order.into_iter().take(MOST_PASSAGES).zip(1..);
    Ok(SearchResults {
        query: question.to_owned(),
        mode: SearchMode::Keyword,
        took_ms: 0.0,
        backend: "cpu".to_owned(),
        hits: chosen.map(|(index, rank)| SearchHit { rank, ..hits[index].clone() }).collect(),
        considered: Vec::new(),
        outcomes: Outcomes::default(),
        searched,
        without_vectors: 0,
        idf_coverage: 1.0,
        best_cosine: None,
        reranked_by: None,
        notes,
    })
}

/// The searchable documents that a question names by title or file name; without one those that the filter lets
/// through. With what people should know of the filter.
fn meant(
    library: &Library,
    question: &str,
    options: &SearchOptions,
) -> Result<(Vec<DocumentRecord>, Vec<String>), Error> {
    let mut filter = DocumentFilter::new(options)?;
    let mut documents = library.documents()?;
    documents.retain(|document| {
        document.status == DocumentStatus::Ready
            && filter.as_mut().is_none_or(|filter| filter.passes(&document.clone().into()))
    });
    let notes = filter.map(|filter| filter.notes()).unwrap_or_default();
    let asked = question.to_lowercase();
    let is_named = |document: &DocumentRecord| {
        let stem = document.path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
        let names = [document.title.to_lowercase(), stem.replace(['-', '_'], " "), stem];
        names.iter().any(|name| name.chars().count() > 3 && asked.contains(name.as_str()))
    };
    if documents.iter().any(is_named) {
        documents.retain(is_named);
    }
    Ok((documents, notes))
}

/// Indices of chunks, of documents laid end to end: the first of each document, then the middle ones, ever finer.
fn order(lengths: &[usize]) -> Vec<usize> {
    let mut starts = Vec::with_capacity(lengths.len());
    let mut total = 0;
    for length in lengths {
        starts.push(total);
        total += length;
    }
    let mut chosen = Vec::with_capacity(total);
    let mut seen = BTreeSet::new();
    let mut parts = 1;
    while chosen.len() < total {
        for part in 0..parts {
            for (start, length) in starts.iter().zip(lengths) {
                let at = part * length / parts;
                if at < *length && seen.insert(start + at) {
                    chosen.push(start + at);
                }
            }
        }
        parts *= 2;
    }
    chosen
}

fn hit(document: &DocumentRecord, chunk: &ChunkRecord) -> SearchHit {
    SearchHit {
        rank: 0,
        score: 0.0,
        scores: HitScores::default(),
        found_by: MatchKind::Keyword,
        path: document.path.clone(),
        title: document.title.clone(),
        chunk: chunk.clone(),
        also: 0,
    }
}

/// How much the library holds.
pub(super) fn count_library(library: &Library, question: &str) -> Result<Answer, Error> {
    let documents = library.documents()?;
    let ready: Vec<&DocumentRecord> =
        documents.iter().filter(|document| document.status == DocumentStatus::Ready).collect();
    let chunks: usize = ready.iter().map(|document| document.chunks).sum();
    let pages: u32 = ready.iter().filter_map(|document| document.pages).sum();
    let pages = if pages > 0 { format!(", with {pages} pages where there are any") } else { String::new() };
    let others = documents.len() - ready.len();
    let others = if others > 0 { format!(" {others} more could not be read.") } else { String::new() };
    let text = format!("This library holds {} documents in {chunks} chunks{pages}.{others}", ready.len());
    Ok(counted(question, text, chunks))
}

/// How many passages and documents hold all of `words`.
pub(super) fn count_mentions(
    library: &Library,
    question: &str,
    words: &str,
    options: &AskOptions,
) -> Result<Answer, Error> {
    let search = SearchOptions { k: MOST_COUNTED, mode: SearchMode::Keyword, ..options.search.clone() };
    let search = SearchOptions { group: crate::retrieve::Grouping::None, mmr: None, rerank: false, ..search };
    let results = library.search(words, &search)?;
    let wanted = crate::store::query_tokens(words);
    let holds = |hit: &&SearchHit| {
        let tokens: BTreeSet<String> = crate::store::index_tokens(&hit.chunk.text).into_iter().collect();
        wanted.is_subset(&tokens)
    };
    let found: Vec<&SearchHit> = results.hits.iter().filter(holds).collect();
    let documents: BTreeSet<u64> = found.iter().map(|hit| hit.chunk.document.0).collect();
    let titles: BTreeSet<&str> = found.iter().map(|hit| hit.title.as_str()).collect();
    let mut text =
        format!("{} passages of {} documents hold the words “{words}”, in any form.", found.len(), documents.len());
    for title in titles.into_iter().take(MOST_NAMED) {
        text.push_str("\n- ");
        text.push_str(title);
    }
    Ok(counted(question, text, results.searched))
}

/// What a question gets that was stopped before anything was found.
pub(super) fn stopped(question: &str) -> Answer {
    Answer { reason: Some("stopped".to_owned()), ..counted(question, String::new(), 0) }
}

fn counted(question: &str, answer: String, searched: usize) -> Answer {
    Answer {
        question: question.to_owned(),
        standalone: None,
        answer,
        refused: false,
        reason: None,
        model: COUNTED_BY.to_owned(),
        citations: Vec::new(),
        markers_dropped: 0,
        sentences_checked: 0,
        unsupported: Vec::new(),
        passages_used: searched,
        passages_found: searched,
        passages_searched: searched,
        passages: Vec::new(),
        prompt_tokens: 0,
        answer_tokens: 0,
        notes: Vec::new(),
        took_ms: AnswerTimes::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_begins_with_each_document_and_covers_everything_once() {
        let order = order(&[4, 1, 0, 3]);
        assert_eq!(&order[..3], [0, 4, 5]);
        let mut all = order.clone();
        all.sort_unstable();
        assert_eq!(all, (0..8).collect::<Vec<_>>());
        assert!(super::order(&[]).is_empty());
    }
}
