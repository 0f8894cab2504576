//! [`Library::ask`]: search, then answer from what was found.

use std::sync::PoisonError;
use std::time::Instant;

use super::{Error, Library, whole};
use crate::answer::{self, Answer, AskEvent, AskOptions, Citation, GateScale, GenerateError, Question, Route, Task};
use crate::embed::{Embedder, HashEmbedder, TextRole};
use crate::extract::Extraction;
use crate::progress::CancelToken;
use crate::retrieve::SearchHit;
use crate::store::ChunkRecord;

impl From<GenerateError> for Error {
    fn from(err: GenerateError) -> Self {
        let (title, hint) = match &err {
            GenerateError::Load(_) => {
                ("Language model", "`outcrop models` lists what is installed; `--model extractive` answers without one")
            }
            GenerateError::TooLong { .. } => {
                ("Prompt too long", "ingest with smaller chunks, or ask with another model")
            }
            GenerateError::Died { .. } => {
                ("Language model", "ask again to restart it; `--model extractive` answers without one")
            }
        };
        Self::new(title, err.to_string()).with_hint(hint)
    }
}

/// See [`Library::ask`].
pub(super) fn ask(
    library: &Library,
    question: &str,
    options: &AskOptions,
    on_event: &mut dyn FnMut(AskEvent),
    cancel: &CancelToken,
) -> Result<Answer, Error> {
    let asked_at = Instant::now();
    let standalone = answer::standalone(question, &options.before);
    let text = standalone.as_deref().unwrap_or(question);
    let (task, results) = match answer::route(question) {
        Route::CountLibrary => return Ok(counted(whole::count_library(library, question)?, asked_at, on_event)),
        Route::CountMentions(words) => {
            return Ok(counted(whole::count_mentions(library, question, &words, options)?, asked_at, on_event));
        }
        Route::Summary => (Task::Summarise, whole::spread(library, question, &options.search)?),
        Route::Passages => (Task::Answer, library.search(text, &options.search)?),
    };
    let mut results = results;
    if task == Task::Answer {
        results.hits = with_neighbours(library, results.hits, options.neighbours);
    }
    let mut generators = library.generators.lock().unwrap_or_else(PoisonError::into_inner);
    let generator = generators.pick(options.model.as_deref())?;
    let question = Question {
        asked: question,
        text,
        task,
        options,
        results: &results,
        scale: gate_scale(library.embedder.as_ref()),
        similarity: &|texts| similarity(library, text, texts, cancel),
        asked_at,
    };
    let mut answer = answer::answer(&question, generator, on_event, cancel)?;
    place_citations(library, &mut answer.citations);
    Ok(answer)
}

/// The hits, each with so many chunks before and after it; one that lies in a better one widened so is left out.
fn with_neighbours(library: &Library, hits: Vec<SearchHit>, neighbours: usize) -> Vec<SearchHit> {
    if neighbours == 0 {
        return hits;
    }
    let mut widened: Vec<SearchHit> = Vec::new();
    for mut hit in hits {
        let holds = |other: &SearchHit| {
            let (other, chunk) = (&other.chunk, &hit.chunk);
            other.document == chunk.document && other.start <= chunk.start && chunk.end <= other.end
        };
        if widened.iter().any(holds) {
            continue;
        }
        // A document that was removed meanwhile keeps its passage as it was found.
        if let (Ok(chunks), Ok(extraction)) =
            (library.chunks(hit.chunk.document), library.extraction(hit.chunk.document))
        {
            widen(&mut hit.chunk, &chunks, &extraction, neighbours);
        }
        widened.push(hit);
    }
    widened
}

fn widen(chunk: &mut ChunkRecord, chunks: &[ChunkRecord], extraction: &Extraction, neighbours: usize) {
    let last = chunk.index.saturating_add(neighbours).min(chunks.len().saturating_sub(1));
    let ends = chunks.get(chunk.index.saturating_sub(neighbours)).zip(chunks.get(last));
    let Some(range) = ends.map(|(first, last)| first.start..last.end) else { return };
    if let Some(text) = extraction.text.get(range.clone()) {
        text.clone_into(&mut chunk.text);
        (chunk.start, chunk.end) = (range.start, range.end);
        chunk.place = extraction.place(range);
    }
}

/// An answer that was counted, shown as the others are.
fn counted(mut answer: Answer, asked_at: Instant, on_event: &mut dyn FnMut(AskEvent)) -> Answer {
    on_event(AskEvent::Retrieved(Vec::new()));
    on_event(AskEvent::Token(answer.answer.clone()));
    answer.took_ms.total = asked_at.elapsed().as_secs_f64() * 1e3;
    answer
}

/// Pages, headings, rows and lines of the quotes themselves: a passage's own are those of its beginning.
fn place_citations(library: &Library, citations: &mut [Citation]) {
    for citation in citations {
        // A document that was removed while the model wrote keeps the place of its passage.
        let Ok(extraction) = library.extraction(citation.document) else {
            continue;
        };
        let place = extraction.place(citation.start..citation.end);
        (citation.pages, citation.rows, citation.lines) = (place.pages, place.rows, place.lines);
        citation.heading = place.heading;
    }
}

fn gate_scale(embedder: &dyn Embedder) -> GateScale {
    if embedder.fingerprint() == HashEmbedder.fingerprint() { GateScale::WORDS } else { GateScale::MEANING }
}

/// Cosines of the question with each text. Without them the words of the extractive answer decide alone.
fn similarity(library: &Library, question: &str, texts: &[&str], cancel: &CancelToken) -> Option<Vec<f32>> {
    let embedder = library.embedder.as_ref();
    if embedder.fingerprint() == HashEmbedder.fingerprint() {
        return None;
    }
    let embed = |texts: &[&str], role| embedder.embed(texts, role, cancel, &mut |_| ());
    let asked = embed(&[question], TextRole::Query).ok()?;
    let rows = embed(texts, TextRole::Passage).ok()?;
    let cosine = |row: &[f32]| row.iter().zip(&asked).map(|(a, b)| a * b).sum();
    Some(rows.chunks_exact(embedder.dims()).map(cosine).collect())
}
