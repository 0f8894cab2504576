//! [`Library::ask`]: search, then answer from what was found.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::PoisonError;
use std::time::Instant;

use super::{Error, Library, whole};
use crate::answer::{self, Answer, AskEvent, AskOptions, Citation, GateScale, GenerateError, Question, Route, Task};
use crate::embed::{Embedder, HashEmbedder, TextRole};
use crate::extract::Extraction;
use crate::progress::CancelToken;
use crate::retrieve::{SearchHit, SearchResults};
use crate::store::{ChunkRecord, DocumentId};

impl From<GenerateError> for Error {
    fn from(err: GenerateError) -> Self {
        let (title, hint) = match &err {
            GenerateError::Load(_) => {
                ("Language model", "`outcrop models` lists what is installed; `--model extractive` answers without one")
            }
            GenerateError::TooLong { .. } => {
                ("Prompt too long", "ingest with smaller chunks, or ask with another model")
            }
            GenerateError::Died { .. } | GenerateError::BrokeOff { .. } => {
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
    let scale = gate_scale(library.embedder.as_ref());
    let gathered = match gather(library, question, options, scale, cancel) {
        Err(_) if cancel.is_cancelled() => return Ok(whole::stopped(question)),
        gathered => gathered?,
    };
    let (task, standalone, results) = match gathered {
        Gathered::Counted(answer) => return Ok(counted(answer, asked_at, on_event)),
        Gathered::Passages { task, standalone, results } => (task, standalone, results),
    };
    let text = standalone.as_deref().unwrap_or(question);
    let neighbours = if task == Task::Answer { options.neighbours } else { 0 };
    let options = &AskOptions { neighbours, ..options.clone() };
    let surroundings = Surroundings { library, documents: RefCell::default() };
    let mut generators = library.generators.lock().unwrap_or_else(PoisonError::into_inner);
    let generator = generators.pick(options.model.as_deref())?;
    let question = Question {
        asked: question,
        text,
        task,
        options,
        results: &results,
        scale,
        widened: &|hit, around| surroundings.widened(hit, around),
        similarity: &|texts| similarity(library, text, texts, cancel),
        asked_at,
    };
    let mut answer = answer::answer(&question, generator, on_event, cancel)?;
    place_citations(library, &mut answer.citations);
    Ok(answer)
}

impl Library {
    /// Ends the process of the model of that name, if it answered last, once the answer under way is written; the next
    /// question begins another.
    pub fn unload_model(&self, name: &str) {
        self.generators.lock().unwrap_or_else(PoisonError::into_inner).unload(name);
    }
}

/// What a question is answered from.
enum Gathered {
    /// The library itself says it.
    Counted(Answer),
    /// Passages, and what they were searched for where that is not the question as asked.
    Passages { task: Task, standalone: Option<String>, results: SearchResults },
}

fn gather(
    library: &Library,
    question: &str,
    options: &AskOptions,
    scale: GateScale,
    cancel: &CancelToken,
) -> Result<Gathered, Error> {
    match answer::route(question) {
        Route::CountLibrary => whole::count_library(library, question, &options.search).map(Gathered::Counted),
        Route::CountMentions(words) => {
            whole::count_mentions(library, question, &words, &options.search, cancel).map(Gathered::Counted)
        }
        // What is asked of whole documents leans on no earlier question: "this" is the document.
        Route::Summary => {
            let results = whole::spread(library, question, &options.search, cancel)?;
            Ok(Gathered::Passages { task: Task::Summarise, standalone: None, results })
        }
        Route::Passages => {
            let standalone = answer::standalone(question, &options.before);
            let (standalone, results) = find(library, question, standalone, options, scale, cancel)?;
            Ok(Gathered::Passages { task: Task::Answer, standalone, results })
        }
    }
}

/// The passages for a question. Where those for what it was taken to mean would be refused, those for its own words count
/// if they are nearer: then it stood by itself.
fn find(
    library: &Library,
    question: &str,
    standalone: Option<String>,
    options: &AskOptions,
    scale: GateScale,
    cancel: &CancelToken,
) -> Result<(Option<String>, SearchResults), Error> {
    let score = |results: &SearchResults| scale.score(results.best_cosine, results.idf_coverage);
    let results = library.search_until(standalone.as_deref().unwrap_or(question), &options.search, cancel)?;
    if standalone.is_none() || score(&results) >= options.gate {
        return Ok((standalone, results));
    }
    let own = library.search_until(question, &options.search, cancel)?;
    Ok(if score(&own) > score(&results) { (None, own) } else { (standalone, results) })
}

/// A document's chunks and text; `None` where it was removed meanwhile.
type Whole = Option<Rc<(Vec<ChunkRecord>, Extraction)>>;

/// The chunks around hits, each document read once.
struct Surroundings<'a> {
    library: &'a Library,
    documents: RefCell<BTreeMap<u64, Whole>>,
}

impl Surroundings<'_> {
    /// The hit with so many chunks before and after it; `None` where its document was removed meanwhile.
    fn widened(&self, hit: &SearchHit, (before, after): (usize, usize)) -> Option<SearchHit> {
        let document = self.document(hit.chunk.document)?;
        let (chunks, extraction) = document.as_ref();
        let index = hit.chunk.index;
        let last = index.saturating_add(after).min(chunks.len().checked_sub(1)?);
        let range = chunks.get(index.saturating_sub(before))?.start..chunks.get(last)?.end;
        let mut hit = hit.clone();
        extraction.text.get(range.clone())?.clone_into(&mut hit.chunk.text);
        (hit.chunk.start, hit.chunk.end) = (range.start, range.end);
        hit.chunk.place = extraction.place(range);
        Some(hit)
    }

    fn document(&self, id: DocumentId) -> Whole {
        let read = || Some(Rc::new((self.library.chunks(id).ok()?, self.library.extraction(id).ok()?)));
        self.documents.borrow_mut().entry(id.0).or_insert_with(read).clone()
    }
}

/// An answer that was counted, shown as the others are.
fn counted(mut answer: Answer, asked_at: Instant, on_event: &mut dyn FnMut(AskEvent)) -> Answer {
    on_event(AskEvent::Retrieved { hits: Vec::new(), searched: answer.passages_searched });
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
