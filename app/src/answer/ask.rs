//! [`answer`]: from search results to an answer with its sources.

use std::time::Instant;

use super::budget::Surroundings;
use super::citations::Annotator;
use super::extractive::{EXTRACTIVE, MOST_READ, Similarity, extract, share_of_question};
use super::found::{self, PassageFate};
use super::passage::Passage;
use super::prompt::{self, Task};
use super::streamed::Streamed;
use super::words::term_set;
use super::{
    Answer, AnswerTimes, AskEvent, AskOptions, Citation, GateScale, GenerateError, GenerateEvent, Generation,
    Generator, budget, refusal,
};
use crate::progress::CancelToken;
use crate::retrieve::{SearchHit, SearchResults};

/// Why there is no answer, or not all of it, when a person stopped it.
pub(super) const STOPPED: &str = "stopped";
/// Why the passages' own sentences stand where the model's should.
const NO_WORDS: &str = "the model wrote nothing; these are the nearest sentences of the documents";

/// How much more of the question the passages' own words must hold to be put under an answer.
const PASSED_BY: f32 = 0.5;
/// Stands between such an answer and what the documents say.
const NEAREST_WORDS: &str = "\n\nThe nearest words of the documents: ";

/// A hit with so many chunks before and after it, or as many as there are; `None` where its document is gone.
pub type Widened<'a> = dyn Fn(&SearchHit, (usize, usize)) -> Option<SearchHit> + 'a;

/// A question with what was found for it.
pub struct Question<'a> {
    /// The question as asked.
    pub asked: &'a str,
    /// The same so that it stands by itself: what is searched for and put to the model.
    pub text: &'a str,
    /// What the model is to do.
    pub task: Task,
    /// How to answer.
    pub options: &'a AskOptions,
    /// What was found.
    pub results: &'a SearchResults,
    /// The gate of the embedder that found it.
    pub scale: GateScale,
    /// Hits with the chunks around them, as far as [`AskOptions::neighbours`] asks for them.
    pub widened: &'a Widened<'a>,
    /// Similarity of the question with each text, for the extractive answer; `None` where there is none.
    pub similarity: &'a Similarity<'a>,
    /// When the question was asked.
    pub asked_at: Instant,
}

/// Answers from the passages found: with `generator`, or with their own sentences if there is none.
///
/// # Errors
/// The generator does not load, or died before it said anything. A refusal is not an error, nor is an answer that
/// was cut off: its `reason` says why.
pub fn answer(
    question: &Question<'_>,
    generator: Option<&mut dyn Generator>,
    on_event: &mut dyn FnMut(AskEvent),
    cancel: &CancelToken,
) -> Result<Answer, GenerateError> {
    let results = question.results;
    on_event(AskEvent::Retrieved { hits: results.hits.clone(), searched: results.searched });
    let read: Vec<SearchHit>;
    let mut draft = Draft::new(question, on_event);
    if let Some(reason) = gate(question) {
        draft.refuse(reason);
        return Ok(draft.finish());
    }
    let surroundings = Surroundings {
        hits: &question.results.hits,
        neighbours: question.options.neighbours,
        widened: question.widened,
    };
    let Some(generator) = generator else {
        read = surroundings.all();
        draft.passages = Passage::number_all(&read);
        draft.extract();
        return Ok(draft.finish());
    };
    if draft.make_ready(generator, cancel)? {
        let frame = prompt::frame(question.text, question.task);
        let fit = budget::fit(generator, &frame, &surroundings, question.options.max_answer_tokens)?;
        read = fit.hits;
        draft.read = Passage::number_all(&read);
        draft.generate(generator, fit.answer_tokens, cancel)?;
    }
    Ok(draft.finish())
}

/// Why no model is asked, if none is.
fn gate(question: &Question<'_>) -> Option<String> {
    let results = question.results;
    if results.hits.is_empty() {
        // Why there is nothing to search is the better reason.
        let why = results.notes.first().filter(|_| results.searched == 0);
        return Some(why.map_or_else(|| "no passage matches the question".to_owned(), String::clone));
    }
    let score = question.scale.score(results.best_cosine, results.idf_coverage);
    let needed = question.options.gate;
    (score < needed).then(|| format!("the nearest passage is not near enough: score {score:.2}, needed {needed:.2}"))
}

/// An answer in the making.
struct Draft<'a> {
    question: &'a Question<'a>,
    /// Everything that was found.
    passages: Vec<Passage<'a>>,
    /// What the model reads of it.
    read: Vec<Passage<'a>>,
    on_event: &'a mut dyn FnMut(AskEvent),
    answer: Answer,
}

impl<'a> Draft<'a> {
    fn new(question: &'a Question<'a>, on_event: &'a mut dyn FnMut(AskEvent)) -> Self {
        let results = question.results;
        Self {
            question,
            passages: Passage::number_all(&results.hits),
            read: Vec::new(),
            on_event,
            answer: Answer {
                question: question.asked.to_owned(),
                standalone: (question.asked != question.text).then(|| question.text.to_owned()),
                answer: String::new(),
                refused: false,
                reason: None,
                model: EXTRACTIVE.to_owned(),
                citations: Vec::new(),
                markers_dropped: 0,
                sentences_checked: 0,
                unsupported: Vec::new(),
                passages_used: 0,
                passages_found: results.hits.len(),
                passages_searched: results.searched,
                passages: found::found(results),
                prompt_tokens: 0,
                answer_tokens: 0,
                notes: results.notes.clone(),
                took_ms: AnswerTimes { retrieve: results.took_ms, ..AnswerTimes::default() },
            },
        }
    }

    fn finish(mut self) -> Answer {
        self.answer.took_ms.total = self.elapsed_ms();
        self.answer
    }

    fn elapsed_ms(&self) -> f64 {
        self.question.asked_at.elapsed().as_secs_f64() * 1000.0
    }

    /// Shows a piece of the answer.
    fn show(&mut self, piece: String) {
        if piece.is_empty() {
            return;
        }
        if self.answer.took_ms.first_token.is_none() {
            self.answer.took_ms.first_token = Some(self.elapsed_ms());
        }
        self.answer.answer.push_str(&piece);
        (self.on_event)(AskEvent::Token(piece));
    }

    fn refuse(&mut self, reason: String) {
        let (text, citations) = refusal::refusal(&self.passages);
        self.answer.refused = true;
        self.answer.reason = Some(reason);
        self.answer.citations = citations;
        self.show(text);
    }

    fn extract(&mut self) {
        let question = self.question;
        let read = &self.passages[..self.passages.len().min(MOST_READ)];
        self.answer.passages_used = read.len();
        found::mark(&mut self.answer.passages, read, &PassageFate::NotRead);
        match extract(question.text, read, question.similarity) {
            Some(found) => {
                self.answer.sentences_checked = found.citations.len();
                self.answer.citations = found.citations;
                self.show(found.text);
            }
            None => self.refuse("the passages found hold no sentence".to_owned()),
        }
    }

    /// Loads the model; false where the person stopped it meanwhile.
    fn make_ready(&mut self, generator: &mut dyn Generator, cancel: &CancelToken) -> Result<bool, GenerateError> {
        generator.name().clone_into(&mut self.answer.model);
        if !generator.is_loaded() {
            (self.on_event)(AskEvent::LoadingModel(self.answer.model.clone()));
            generator.load(cancel)?;
            self.answer.notes.extend_from_slice(generator.notes());
        }
        if cancel.is_cancelled() {
            self.answer.reason = Some(STOPPED.to_owned());
            return Ok(false);
        }
        Ok(true)
    }

    fn generate(
        &mut self,
        generator: &mut dyn Generator,
        answer_tokens: usize,
        cancel: &CancelToken,
    ) -> Result<(), GenerateError> {
        let sources: Vec<String> = self.read.iter().map(prompt::source).collect();
        self.answer.passages_used = sources.len();
        found::mark(&mut self.answer.passages, &self.read, &PassageFate::OverBudget);
        (self.on_event)(AskEvent::Asking { model: self.answer.model.clone(), used: sources.len() });
        let prompt = prompt::prompt(self.question.text, &sources, self.question.task);
        let mut text = Streamed::new(Annotator::new(&self.read));
        let mut hear = |event: GenerateEvent<'_>| match event {
            GenerateEvent::Reading { read_tokens, prompt_tokens } => {
                (self.on_event)(AskEvent::Reading { read_tokens, prompt_tokens });
            }
            GenerateEvent::Piece(piece) => self.show(text.push(piece)),
        };
        let outcome = generator.generate(&prompt, answer_tokens, &mut hear, cancel);
        self.conclude(text, outcome)
    }

    /// Takes in how the generator ended.
    fn conclude(
        &mut self,
        mut text: Streamed<'_>,
        outcome: Result<Generation, GenerateError>,
    ) -> Result<(), GenerateError> {
        let stopped = match outcome {
            Ok(generation) => {
                self.answer.prompt_tokens = generation.prompt_tokens;
                self.answer.answer_tokens = generation.answer_tokens;
                generation.stopped
            }
            Err(err @ (GenerateError::Died { .. } | GenerateError::BrokeOff { .. })) if text.has_text() => {
                Some(err.to_string())
            }
            Err(err) => return Err(err),
        };
        if text.says_not_found() {
            self.refuse("the model found no answer in the passages".to_owned());
            return Ok(());
        }
        if !text.has_text() {
            // The words are the documents' own.
            EXTRACTIVE.clone_into(&mut self.answer.model);
            self.extract();
            self.answer.reason = stopped.or_else(|| Some(NO_WORDS.to_owned()));
            return Ok(());
        }
        self.show(text.finish());
        let annotations = text.annotator.into_annotations();
        self.answer.markers_dropped = annotations.dropped;
        self.answer.citations = annotations.citations;
        self.answer.sentences_checked = annotations.checked;
        self.answer.unsupported = annotations.unsupported;
        self.answer.reason = stopped.or_else(|| doubtful(&self.answer));
        self.quote_nearest();
        Ok(())
    }

    /// Puts the documents' own words under an answer that nothing supports, or that passes by the question while a
    /// passage does not.
    fn quote_nearest(&mut self) {
        let question = self.question;
        if question.task == Task::Summarise {
            return;
        }
        let found = extract(question.text, &self.read, question.similarity);
        let held = share_of_question(question.text, &term_set(&self.answer.answer));
        let is_bare = self.answer.citations.is_empty();
        let Some(found) = found.filter(|found| is_bare || found.held - held >= PASSED_BY) else {
            return;
        };
        for citation in found.citations {
            let is_same = |other: &Citation| {
                (other.document, other.start, other.end) == (citation.document, citation.start, citation.end)
            };
            if !self.answer.citations.iter().any(is_same) {
                self.answer.citations.push(citation);
            }
        }
        self.answer.citations.sort_by_key(|citation| citation.marker);
        self.show(format!("{NEAREST_WORDS}{}", found.text));
    }
}

/// How much of an answer no passage supports, if any.
fn doubtful(answer: &Answer) -> Option<String> {
    let (checked, doubtful) = (answer.sentences_checked, answer.unsupported.len());
    match answer.unsupported.as_slice() {
        [] if answer.citations.is_empty() => {
            Some("no sentence of this answer could be matched to a passage".to_owned())
        }
        [] => None,
        [one] => Some(format!("{doubtful} of {checked} sentences is not supported: {}", one.reason)),
        _ => Some(format!("{doubtful} of {checked} sentences are not supported by any passage")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use super::*;
    use crate::answer::fake::FakeGenerator;
    use crate::answer::prompt::NOT_FOUND;
    use crate::answer::samples::results;

    const TEXTS: [&str; 2] = ["Standby time is paid at 145 euros per hour.", "Notice of 21 days ends the contract."];

    struct Asked {
        outcome: Result<Answer, GenerateError>,
        streamed: String,
    }

    fn ask(results: &SearchResults, generator: Option<&mut FakeGenerator>) -> Asked {
        let options = AskOptions::default();
        let question = Question {
            asked: "How much is standby?",
            text: "How much is standby?",
            task: Task::Answer,
            options: &options,
            results,
            scale: GateScale::MEANING,
            widened: &|_, _| None,
            similarity: &|_| None,
            asked_at: Instant::now(),
        };
        let mut streamed = String::new();
        let mut on_event = |event| {
            if let AskEvent::Token(piece) = event {
                streamed.push_str(&piece);
            }
        };
        let generator = generator.map(|generator| generator as &mut dyn Generator);
        let outcome = answer(&question, generator, &mut on_event, &CancelToken::new());
        Asked { outcome, streamed }
    }

    #[test]
    fn an_answer_is_streamed_as_it_stands_in_the_end() {
        let mut generator = FakeGenerator::saying("Standby time is paid at 145 euros per hour [9].");
        let asked = ask(&results(&TEXTS, 0.8, 0.9), Some(&mut generator));
        let answer = asked.outcome.unwrap();
        assert_eq!(answer.answer, "Standby time is paid at 145 euros per hour. [1]");
        assert_eq!(answer.answer, asked.streamed);
        assert_eq!((answer.passages_used, answer.passages_found), (2, 2));
        assert_eq!(answer.markers_dropped, 1);
        assert_eq!(answer.citations[0].start, 1000);
        assert!(answer.took_ms.first_token.is_some() && !answer.refused);
    }

    #[test]
    fn under_the_gate_no_model_is_asked() {
        let mut generator = FakeGenerator::saying("Whatever.");
        let asked = ask(&results(&TEXTS, 0.1, 0.1), Some(&mut generator));
        let answer = asked.outcome.unwrap();
        assert!(answer.refused && generator.prompts.is_empty());
        assert!(answer.reason.unwrap().contains("needed"));
        assert!(answer.answer.contains("cosine 0.90") && answer.answer.contains("Document 0"));
        assert_eq!(answer.answer, asked.streamed);
        assert_eq!(answer.citations.len(), 2);
    }

    #[test]
    fn what_is_not_read_without_a_model_is_not_counted_as_used() {
        let texts: Vec<String> = (0..7).map(|day| format!("Standby time on day {day} is paid at 145 euros.")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let answer = ask(&results(&texts, 0.8, 0.9), None).outcome.unwrap();
        assert_eq!((answer.passages_used, answer.passages_found), (MOST_READ, 7));
        let fates: Vec<&str> = answer.passages.iter().map(|passage| passage.fate.text()).collect();
        assert_eq!(fates, ["used", "used", "used", "used", "used", "not read", "not read"]);
    }

    #[test]
    fn passages_that_find_no_room_in_the_prompt_are_named() {
        let long = "Standby time is paid at 145 euros per hour. ".repeat(30);
        let mut generator = FakeGenerator::saying("Standby time is paid at 145 euros per hour [1].").with_context(900);
        let answer = ask(&results(&[&long, &long, &long], 0.8, 0.9), Some(&mut generator)).outcome.unwrap();
        let fates: Vec<&str> = answer.passages.iter().map(|passage| passage.fate.text()).collect();
        assert_eq!((answer.passages_used, fates[0], fates[2]), (1, "used", "no room in the prompt"));
    }

    #[test]
    fn nothing_found_is_a_refusal() {
        let answer = ask(&results(&[], 0.9, 0.9), None).outcome.unwrap();
        assert!(answer.refused && answer.citations.is_empty());
    }

    #[test]
    fn a_model_that_finds_nothing_is_a_refusal_and_never_shown() {
        for said in ["NOT FOUND", "Not found.", "**NOT FOUND** in the sources"] {
            let mut generator = FakeGenerator::saying(said);
            let asked = ask(&results(&TEXTS, 0.8, 0.9), Some(&mut generator));
            assert!(asked.outcome.unwrap().refused, "{said}");
            assert!(!asked.streamed.to_uppercase().contains(NOT_FOUND), "{said}");
        }
    }

    #[test]
    fn where_the_model_writes_nothing_the_passages_speak() {
        let mut generator = FakeGenerator::saying(" ");
        let answer = ask(&results(&TEXTS, 0.8, 0.9), Some(&mut generator)).outcome.unwrap();
        assert!(answer.answer.contains("145 euros") && !answer.citations.is_empty());
        assert_eq!((answer.reason.as_deref(), answer.model.as_str()), (Some(NO_WORDS), EXTRACTIVE));
    }

    #[test]
    fn words_that_only_begin_like_a_refusal_are_shown() {
        let mut generator = FakeGenerator::saying("Notice of 21 days ends the contract.");
        let answer = ask(&results(&TEXTS, 0.8, 0.9), Some(&mut generator)).outcome.unwrap();
        assert!(answer.answer.starts_with("Notice of 21 days ends the contract. [2]"), "{}", answer.answer);
        assert!(answer.answer.contains("145 euros"), "the question was passed by, so the nearest words follow");
    }

    #[test]
    fn when_the_process_dies_the_partial_answer_stays() {
        let mut generator = FakeGenerator::saying("Standby time is paid at 145 euros per hour.").dying_after(10);
        let answer = ask(&results(&TEXTS, 0.8, 0.9), Some(&mut generator)).outcome.unwrap();
        assert!(answer.answer.starts_with("Standby time is paid at 145"));
        assert!(answer.reason.unwrap().contains("ask again"));
    }

    #[test]
    fn a_death_before_the_first_word_is_an_error() {
        let mut generator = FakeGenerator::saying("Standby.").dying_after(0);
        let outcome = ask(&results(&TEXTS, 0.8, 0.9), Some(&mut generator)).outcome;
        assert!(matches!(outcome, Err(GenerateError::Died { .. })));
    }

    #[test]
    fn without_a_generator_the_passages_speak() {
        let answer = ask(&results(&TEXTS, 0.8, 0.9), None).outcome.unwrap();
        assert_eq!(answer.model, EXTRACTIVE);
        assert_eq!(answer.answer, "Standby time is paid at 145 euros per hour. [1]");
    }

    #[test]
    fn an_answer_that_nothing_supports_says_so() {
        let mut generator = FakeGenerator::saying("Whales sing at night.");
        let answer = ask(&results(&TEXTS, 0.8, 0.9), Some(&mut generator)).outcome.unwrap();
        assert!(answer.answer.starts_with("Whales sing at night. [?]\n\n"), "{}", answer.answer);
        assert_eq!((answer.sentences_checked, answer.unsupported.len()), (1, 1));
        assert!(answer.reason.unwrap().contains("1 of 1 sentences is not supported"));
        assert!(!answer.citations.is_empty(), "the nearest words are cited");
    }
}
