//! What jobs report, taken into the state.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Command, chunks, models, search, similarity};
use crate::answer::{Answer, AskEvent};
use crate::ingest::{CUTS_LOST, FileOutcome, IngestOptions, IngestReport};
use crate::jobs::{Event, Jobs};
use crate::library::{Error, Library};
use crate::state::{AppState, Coverage, LabResult, Loadable, Opened, Pace, Selection, Space, Turn, TurnState, Undo};
use crate::store::{ChatId, DocumentId, DocumentRecord, DocumentStatus};

/// Takes an event into the state.
pub fn apply(event: Event, state: &mut AppState, jobs: &mut Jobs) {
    match event {
        Event::LibraryOpened(outcome) => library_opened(outcome, state, jobs),
        Event::DocumentsListed(outcome) => documents_listed(outcome, state, jobs),
        Event::DocumentsRemoved { records, with_file, outcome } => match outcome {
            Ok(_) => documents_removed(&records, &with_file, state, jobs),
            Err(error) => state.report(&error),
        },
        Event::IngestStarted => state.library.queued = state.library.queued.saturating_sub(1),
        Event::IngestFinished(outcome) => ingest_finished(outcome, state, jobs),
        Event::PathsPicked(paths) => super::run(Command::AddPaths(paths), state, jobs),
        Event::FoldersLookedAt(found) => super::library::folders_looked_at(found, state, jobs),
        Event::FoldersPicked(folders) => super::run(Command::FollowFolders(folders), state, jobs),
        Event::FirstRanked { number, results } if number == state.search.asked => {
            state.search.results.preview(*results);
        }
        Event::Searched { number, outcome } if number == state.search.asked => {
            state.search.results.finish(outcome);
        }
        Event::TextLoaded { document, outcome } if state.lab.document == Some(document) => {
            state.lab.extraction.finish(outcome);
        }
        Event::SegmentsEmbedded { document, done, total } if state.lab.document == Some(document) => {
            state.lab.embedding = Pace::step(state.lab.embedding, done, total);
        }
        Event::Cut { document, number, outcome } if state.lab.document == Some(document) => {
            cut(number, outcome, state);
            if state.space == Space::Similarity {
                similarity::refresh(state, jobs);
            }
        }
        Event::SurroundingsRead { number, around } if number == state.pages.asked => state.pages.around = around,
        Event::PagesDrawn { number, outcome } if number == state.pages.asked => state.pages.pictures.finish(outcome),
        Event::QuestionsLoaded { document, questions } if state.lab.document == Some(document) => {
            state.lab.questions = questions;
        }
        Event::Compared { document, number, outcome } if state.lab.document == Some(document) => {
            if number == state.lab.asked {
                state.lab.comparison.finish(outcome);
            }
        }
        event @ (Event::SimilarityProgressed { .. }
        | Event::HeatCompared { .. }
        | Event::Mapped { .. }
        | Event::QueryCompared { .. }) => similarity::apply(event, state, jobs),
        Event::Exported(Ok(Some(path))) => state.tell(format!("Saved {}", path.display()), None),
        Event::AnswerProgressed { number, event } => answer_progressed(number, event, state),
        Event::Answered { number, outcome, kept } => answered(number, *outcome, kept, state),
        Event::ChatLoaded(outcome) => chat_loaded(outcome, state),
        Event::ChatsListed(outcome) => state.chat.conversations.finish(outcome),
        Event::ChatOpened { chat, outcome } if state.chat.opening == Some(chat) => {
            chat_opened(chat, outcome, state, jobs);
        }
        Event::ChatExported(Ok(path)) => state.tell(format!("Written to {}", path.display()), None),
        event @ (Event::ModelsListed { .. }
        | Event::FetchProgressed(_)
        | Event::FetchEnded { .. }
        | Event::ModelPicked(_)
        | Event::ModelAdded(_)
        | Event::ModelRemoved { .. }) => models::apply(event, state, jobs),
        Event::ChatExported(Err(error)) | Event::Exported(Err(error)) | Event::Failed(error) => state.report(&error),
        Event::Exported(Ok(None))
        | Event::ChatOpened { .. }
        | Event::PagesDrawn { .. }
        | Event::SurroundingsRead { .. }
        | Event::FirstRanked { .. }
        | Event::Searched { .. }
        | Event::TextLoaded { .. }
        | Event::SegmentsEmbedded { .. }
        | Event::Cut { .. }
        | Event::Compared { .. }
        | Event::QuestionsLoaded { .. } => {}
    }
}

fn library_opened(outcome: Result<Arc<Library>, Error>, state: &mut AppState, jobs: &mut Jobs) {
    state.opened.finish(outcome.map(|library| {
        let opened = Opened {
            home: library.home().to_owned(),
            backend: library.backend_name(),
            embedder: library.embedder().name().to_owned(),
            embedder_note: library.embedder_note().map(str::to_owned),
            read_only: library.is_read_only(),
        };
        jobs.attach(library);
        opened
    }));
    if state.opened.error().is_none() {
        list_documents(state, jobs);
        models::list(state, jobs);
        if state.opened.value().is_some_and(|opened| !opened.read_only) {
            super::library::catch_up(state, jobs);
        }
    }
}

fn list_documents(state: &mut AppState, jobs: &mut Jobs) {
    state.library.documents.start();
    jobs.list_documents();
}

fn documents_listed(outcome: Result<Vec<DocumentRecord>, Error>, state: &mut AppState, jobs: &mut Jobs) {
    state.library.documents.finish(outcome);
    state.library.arrange();
    let known = |id| state.library.document(id).is_some();
    let gone: Vec<_> = state.library.selected.iter().copied().filter(|id| !known(*id)).collect();
    for id in gone {
        state.library.selected.remove(&id);
    }
    if state.space == Space::Chunks {
        chunks::open_default(state, jobs);
    }
}

/// How to read and cut a document again.
fn as_it_was(record: &DocumentRecord) -> IngestOptions {
    IngestOptions {
        chunker: record.chunker.clone().unwrap_or_default(),
        read: record.read.clone(),
        ..IngestOptions::default()
    }
}

fn documents_removed(records: &[DocumentRecord], with_file: &[DocumentId], state: &mut AppState, jobs: &mut Jobs) {
    let ready = || records.iter().filter(|record| record.status == DocumentStatus::Ready);
    let back: Vec<(PathBuf, IngestOptions)> = ready()
        .filter(|record| with_file.contains(&record.id))
        .map(|record| (record.path.clone(), as_it_was(record)))
        .collect();
    let mut text = match records {
        [one] => format!("Removed “{}”", one.title),
        many => format!("Removed {} documents", many.len()),
    };
    match ready().count() - back.len() {
        0 => {}
        1 => text.push_str("; its file is gone, so it can not be brought back"),
        gone => text.push_str(&format!("; {gone} of their files are gone and can not be brought back")),
    }
    let undo = (!back.is_empty()).then_some(Undo::RestoreDocuments(back));
    state.tell(text, undo);
    list_documents(state, jobs);
    search::search(state, jobs);
}

fn ingest_finished(outcome: Result<IngestReport, Error>, state: &mut AppState, jobs: &mut Jobs) {
    state.library.ingest = None;
    state.library.cancelling = false;
    state.library.paused = false;
    state.library.version += 1;
    match outcome {
        Ok(report) => {
            // Most changes in a followed folder concern no document.
            if !report.files.is_empty() || !report.removed.is_empty() {
                state.tell(sentence(&report), None);
            }
            if let Some(notes) = notes(&report) {
                // What is lost stays in sight.
                let loses = report.files.iter().any(|file| file.notes.iter().any(|note| note == CUTS_LOST));
                if loses {
                    state.report(&notes);
                } else {
                    state.tell(format!("{}: {}", notes.title, notes.detail), None);
                }
            }
            state.library.last_report = Some(report);
        }
        Err(error) => state.report(&error),
    }
    list_documents(state, jobs);
    search::search(state, jobs);
    chunks::recut(state, jobs);
}

/// Files whose notes are shown.
const MOST_NOTED: usize = 5;

/// What a person should know of files that were read, until it is dismissed.
fn notes(report: &IngestReport) -> Option<Error> {
    let noted: Vec<String> = report
        .files
        .iter()
        .flat_map(|file| file.notes.iter().map(|note| format!("{}: {note}", file.path.display())))
        .collect();
    let more = noted.len().saturating_sub(MOST_NOTED);
    let more = if more > 0 { format!("\n… and {more} more") } else { String::new() };
    let shown = noted.iter().take(MOST_NOTED).cloned().collect::<Vec<_>>().join("\n");
    (!noted.is_empty()).then(|| Error::new("Worth knowing of what was read", shown + &more))
}

/// One sentence on what became of the files.
fn sentence(report: &IngestReport) -> String {
    let count = |wanted: fn(&DocumentStatus) -> bool| report.files.iter().filter(|file| wanted(&file.status)).count();
    let unchanged = report.files.iter().filter(|file| file.unchanged).count();
    let is_new = |file: &&FileOutcome| file.status == DocumentStatus::Ready && !file.unchanged;
    let ready = report.files.iter().filter(is_new).count();
    let failed =
        count(|status| !matches!(status, DocumentStatus::Ready | DocumentStatus::Queued | DocumentStatus::Cancelled));
    let mut parts = vec![format!("{ready} {} ready", if ready == 1 { "document" } else { "documents" })];
    for (number, word) in [(unchanged, "unchanged"), (failed, "with problems")] {
        if number > 0 {
            parts.push(format!("{number} {word}"));
        }
    }
    if !report.without_text.is_empty() {
        parts.push(format!("{} pictures without text passed over", report.without_text.len()));
    }
    if !report.removed.is_empty() {
        parts.push(format!("{} gone", report.removed.len()));
    }
    let outcome = if report.cancelled { "Stopped" } else { "Done" };
    format!("{outcome}: {} in {:.1} s", parts.join(", "), report.secs)
}

fn cut(number: u64, outcome: Result<Arc<LabResult>, Error>, state: &mut AppState) {
    let newest = number == state.lab.asked;
    if newest {
        state.lab.embedding = None;
        state.lab.result.finish(outcome);
    } else if let Ok(result) = outcome {
        state.lab.result = Loadable::Pending { previous: Some(result) };
    }
}

fn turn(number: u64, state: &mut AppState) -> Option<&mut Turn> {
    state.chat.turns.iter_mut().rev().find(|turn| turn.number == number)
}

fn answer_progressed(number: u64, event: AskEvent, state: &mut AppState) {
    let Some(turn) = turn(number, state) else { return };
    match event {
        AskEvent::Retrieved { hits, searched } => {
            turn.coverage = Some(Coverage { found: hits.len(), searched, used: None });
        }
        AskEvent::LoadingModel(name) => turn.state = TurnState::Loading(name),
        AskEvent::Asking { model, used } => {
            turn.state = TurnState::Asked(model);
            turn.coverage = turn.coverage.map(|coverage| Coverage { used: Some(used), ..coverage });
        }
        AskEvent::Reading { read_tokens, prompt_tokens } => {
            turn.state = TurnState::Reading { read_tokens, prompt_tokens };
        }
        AskEvent::Token(piece) => {
            turn.state = TurnState::Writing;
            turn.text.push_str(&piece);
        }
    }
}

/// A conversation that was kept, unless another one has begun meanwhile.
fn chat_loaded(outcome: Result<Option<(ChatId, Vec<Answer>)>, Error>, state: &mut AppState) {
    match outcome {
        Ok(Some((chat, answers))) if state.chat.turns.is_empty() => state.chat.take_up(chat, answers),
        Ok(_) => {}
        Err(error) => state.report(&error),
    }
}

fn chat_opened(chat: ChatId, outcome: Result<Vec<Answer>, Error>, state: &mut AppState, jobs: &Jobs) {
    state.chat.opening = None;
    match outcome {
        Ok(answers) => {
            jobs.stop_answer();
            state.chat.clear();
            state.selection = Selection::Nothing;
            state.chat.shows_conversations = false;
            state.chat.take_up(chat, answers);
        }
        Err(error) => state.report(&error),
    }
}

fn answered(number: u64, outcome: Result<Answer, Error>, kept: Option<ChatId>, state: &mut AppState) {
    // A conversation that was cleared meanwhile stays cleared.
    if turn(number, state).is_some() {
        state.chat.kept = kept.or(state.chat.kept);
    }
    let Some(turn) = turn(number, state) else { return };
    let replaced = turn.replaces.filter(|_| outcome.as_ref().is_ok_and(|answer| !answer.is_stopped()));
    turn.state = match outcome {
        Ok(answer) => TurnState::Done(Box::new(answer)),
        Err(error) => TurnState::Failed(error),
    };
    if let Some(replaced) = replaced {
        state.chat.turns.retain(|turn| turn.number != replaced);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(status: DocumentStatus, unchanged: bool) -> FileOutcome {
        FileOutcome {
            path: "a".into(),
            document: None,
            status,
            reason: None,
            notes: Vec::new(),
            unchanged,
            pages: None,
            chunks: 0,
            secs: 0.0,
        }
    }

    #[test]
    fn lost_cuts_are_told_with_their_file() {
        let lost = FileOutcome { notes: vec!["the cuts are lost".to_owned()], ..file(DocumentStatus::Ready, false) };
        let report = IngestReport { files: vec![file(DocumentStatus::Ready, true), lost], ..IngestReport::default() };
        assert_eq!(notes(&report).map(|notice| notice.detail), Some("a: the cuts are lost".to_owned()));
        assert_eq!(notes(&IngestReport::default()), None);
    }

    #[test]
    fn the_report_is_one_sentence() {
        use DocumentStatus::{NeedsOcr, Ready};
        let files = vec![file(Ready, false), file(Ready, true), file(NeedsOcr, false)];
        let report = IngestReport { files, secs: 1.25, ..IngestReport::default() };
        assert_eq!(sentence(&report), "Done: 1 document ready, 1 unchanged, 1 with problems in 1.2 s");
    }
}
