//! Questions about whole documents: passages spread over them, and counts.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::{Error, Library};
use crate::answer::{Answer, AnswerTimes};
use crate::embed::EmbedError;
use crate::progress::CancelToken;
use crate::retrieve::{
    DocumentFilter, Grouping, HitScores, MatchKind, Outcomes, SearchHit, SearchMode, SearchOptions, SearchResults,
};
use crate::store::{self, ChunkRecord, DocumentId, DocumentRecord, DocumentStatus};

/// What answers that count are signed with.
const COUNTED_BY: &str = "library";
/// Passages offered to a summary; how many fit is the prompt's affair.
const MOST_PASSAGES: usize = 24;
/// Documents that a count names.
const MOST_NAMED: usize = 12;
/// Hits that a count looks at.
const MOST_COUNTED: usize = 100_000;

/// Passages spread over the documents that a question means: those it names, else those of the source filter.
pub(super) fn spread(
    library: &Library,
    question: &str,
    options: &SearchOptions,
    cancel: &CancelToken,
) -> Result<SearchResults, Error> {
    let (documents, notes) = meant(library, question, options)?;
    let lengths: Vec<usize> = documents.iter().map(|document| document.chunks).collect();
    let mut read: BTreeMap<usize, Vec<ChunkRecord>> = BTreeMap::new();
    let mut hits = Vec::new();
    for (document, chunk) in places(&lengths, MOST_PASSAGES) {
        go_on(cancel)?;
        let chunks = match read.entry(document) {
            Entry::Occupied(read) => read.into_mut(),
            Entry::Vacant(unread) => unread.insert(library.chunks(documents[document].id)?),
        };
        // A document may be cut anew, or removed, meanwhile.
        if let Some(chunk) = chunks.get(chunk) {
            hits.push(hit(hits.len() + 1, &documents[document], chunk));
        }
    }
    Ok(SearchResults {
        query: question.to_owned(),
        mode: SearchMode::Keyword,
        took_ms: 0.0,
        backend: "cpu".to_owned(),
        hits,
        considered: Vec::new(),
        outcomes: Outcomes::default(),
        searched: lengths.iter().sum(),
        without_vectors: 0,
        idf_coverage: 1.0,
        best_cosine: None,
        reranked_by: None,
        notes,
    })
}

/// An error once the person has stopped it.
fn go_on(cancel: &CancelToken) -> Result<(), Error> {
    if cancel.is_cancelled() { Err(EmbedError::Cancelled.into()) } else { Ok(()) }
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

/// At most `most` chunks of documents that have so many, as the index of the document and of the chunk in it. Of more
/// documents than that some are taken, evenly. However few of the places are used, the first ones of them are spread
/// evenly over each document: its beginning, its middle, its quarters and so on (van der Corput's sequence).
fn places(lengths: &[usize], most: usize) -> Vec<(usize, usize)> {
    let filled: Vec<usize> = (0..lengths.len()).filter(|document| lengths[*document] > 0).collect();
    let num_documents = filled.len().min(most);
    let documents: Vec<usize> = (0..num_documents).map(|at| filled[at * filled.len() / num_documents]).collect();
    let total = documents.iter().map(|document| lengths[*document]).sum::<usize>().min(most);
    let mut seen = BTreeSet::new();
    let mut chosen = Vec::with_capacity(total);
    let mut step = 0_u32;
    while chosen.len() < total {
        for document in &documents {
            let chunk = (u64::from(step.reverse_bits()) * lengths[*document] as u64) >> 32;
            let place = (*document, chunk as usize);
            if chosen.len() < total && seen.insert(place) {
                chosen.push(place);
            }
        }
        step += 1;
    }
    chosen
}

fn hit(rank: usize, document: &DocumentRecord, chunk: &ChunkRecord) -> SearchHit {
    SearchHit {
        rank,
        score: 0.0,
        scores: HitScores::default(),
        found_by: MatchKind::Keyword,
        path: document.path.clone(),
        title: document.title.clone(),
        chunk: chunk.clone(),
        also: 0,
    }
}

/// How much the library holds, or how much of it passes the filters.
pub(super) fn count_library(library: &Library, question: &str, options: &SearchOptions) -> Result<Answer, Error> {
    let all = library.documents()?;
    let mut filter = DocumentFilter::new(options)?;
    let passed: Vec<&DocumentRecord> = all
        .iter()
        .filter(|document| filter.as_mut().is_none_or(|filter| filter.passes(&(*document).clone().into())))
        .collect();
    let ready: Vec<&DocumentRecord> =
        passed.iter().copied().filter(|document| document.status == DocumentStatus::Ready).collect();
    let chunks: usize = ready.iter().map(|document| document.chunks).sum();
    let pages: u32 = ready.iter().filter_map(|document| document.pages).sum();
    let held = number_of(ready.len(), "document");
    let chunks_held = number_of(chunks, "chunk");
    let mut text = if filter.is_some() {
        let all_ready = all.iter().filter(|document| document.status == DocumentStatus::Ready).count();
        format!("{held} of the {all_ready} in this library passed the filters, in {chunks_held}")
    } else {
        format!("This library holds {held} in {chunks_held}")
    };
    if pages > 0 {
        text.push_str(&format!(", with {} where there are any", number_of(pages as usize, "page")));
    }
    text.push('.');
    let others = passed.len() - ready.len();
    if others > 0 {
        text.push_str(&format!(" {others} more could not be read."));
    }
    let notes = filter.map(|filter| filter.notes()).unwrap_or_default();
    Ok(Answer { notes, ..counted(question, text, chunks) })
}

/// The mentions of some words in one document.
struct Mentions<'a> {
    title: &'a str,
    passages: usize,
    times: usize,
}

/// How often `words` stand together, and how many passages and documents hold all of them.
pub(super) fn count_mentions(
    library: &Library,
    question: &str,
    words: &str,
    options: &SearchOptions,
    cancel: &CancelToken,
) -> Result<Answer, Error> {
    let search = SearchOptions { k: MOST_COUNTED, mode: SearchMode::Keyword, min_score: None, ..options.clone() };
    let search = SearchOptions { group: Grouping::None, mmr: None, rerank: false, ..search };
    let results = library.search_until(words, &search, cancel)?;
    let mut found: BTreeMap<DocumentId, Mentions<'_>> = BTreeMap::new();
    for hit in &results.hits {
        go_on(cancel)?;
        if store::holds_all(&hit.chunk.text, words) {
            let mentions = Mentions { title: &hit.title, passages: 0, times: 0 };
            found.entry(hit.chunk.document).or_insert(mentions).passages += 1;
        }
    }
    for (document, mentions) in &mut found {
        go_on(cancel)?;
        // Chunks overlap, so that the whole text is counted; a document may be removed meanwhile.
        mentions.times = library.extraction(*document).map_or(0, |whole| store::count_mentions(&whole.text, words));
    }
    let mut found: Vec<Mentions<'_>> = found.into_values().collect();
    found.sort_by(|a, b| b.times.cmp(&a.times).then_with(|| a.title.cmp(b.title)));
    Ok(Answer { notes: results.notes, ..counted(question, told(words, &found), results.searched) })
}

/// The count in words, with the documents that hold most.
fn told(words: &str, found: &[Mentions<'_>]) -> String {
    let times = found.iter().map(|mentions| mentions.times).sum();
    let passages = found.iter().map(|mentions| mentions.passages).sum();
    let mut text = format!(
        "“{words}” is mentioned {}. {} of {} {} all of its words, in any form.",
        number_of(times, "time"),
        number_of(passages, "passage"),
        number_of(found.len(), "document"),
        if passages == 1 { "holds" } else { "hold" },
    );
    for mentions in found.iter().take(MOST_NAMED) {
        text.push_str(&format!("\n- {}: {}", mentions.title, number_of(mentions.times, "time")));
    }
    if found.len() > MOST_NAMED {
        text.push_str(&format!("\n- and {} more", found.len() - MOST_NAMED));
    }
    text
}

/// `1 page`, `2 pages`.
fn number_of(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
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
    fn places_begin_with_each_document_and_cover_everything_once() {
        let places = |lengths: &[usize]| places(lengths, 100);
        let found = places(&[4, 1, 0, 3]);
        assert_eq!(&found[..3], [(0, 0), (1, 0), (3, 0)]);
        let mut all = found.clone();
        all.sort_unstable();
        assert_eq!(all, [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (3, 0), (3, 1), (3, 2)]);
        assert!(places(&[]).is_empty() && places(&[0, 0]).is_empty());
    }

    #[test]
    fn the_first_places_are_as_even_as_all_of_them() {
        let found = places(&[1000], 24);
        for used in 1..=24 {
            let mut chunks: Vec<usize> = found[..used].iter().map(|place| place.1).collect();
            chunks.sort_unstable();
            let gaps = chunks.iter().zip(chunks[1..].iter().chain([&1000])).map(|(from, to)| to - from);
            let widest = gaps.max().unwrap_or(0);
            assert!(widest <= 2 * 1000 / used, "{used} places leave {widest} of 1000 chunks out");
        }
    }

    #[test]
    fn of_many_documents_some_are_taken_evenly() {
        let found = places(&[5; 100], 4);
        assert_eq!(found, [(0, 0), (25, 0), (50, 0), (75, 0)]);
    }
}
