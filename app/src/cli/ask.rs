//! `outcrop ask`.

use std::path::PathBuf;

use indicatif::ProgressBar;
use serde::Serialize;

use super::Ending;
use super::args::AskVerb;
use super::cited_pages::{self, CitedPage};
use super::error::CliError;
use super::output::{print_json, print_line, print_piece, progress_bar};
use super::search::{checked, snippet, source_text};
use super::session::Session;
use crate::answer::{Answer, AskEvent, AskOptions, Citation};
use crate::extract::Place;
use crate::library::Access;

/// An answer, for programs.
#[derive(Serialize)]
struct AnswerJson<'a> {
    #[serde(flatten)]
    answer: &'a Answer,
    #[serde(skip_serializing_if = "Option::is_none")]
    page_pictures: Option<Vec<CitedPage>>,
}

/// Answers a question; the text streams, its sources follow.
pub(super) fn run(session: &Session, verb: &AskVerb) -> Result<Ending, CliError> {
    let options = AskOptions {
        search: checked(verb.search.options()?)?,
        model: verb.model.clone(),
        max_answer_tokens: verb.max_tokens,
        neighbours: verb.neighbours,
        ..AskOptions::default()
    };
    verb.pages.as_deref().map_or(Ok(()), cited_pages::make_folder)?;
    let library = session.open_library(Access::Read)?;
    let streams = !session.global.json;
    let bar = progress_bar(session.global.quiet, 0, "{msg} {bar:24} {pos} of {len} tokens · {eta} left");
    let mut on_event = |event| show(session, streams, &bar, event);
    let answer = library.ask(&verb.question, &options, &mut on_event, &session.cancel);
    bar.finish_and_clear();
    let answer = answer?;
    answer.notes.iter().for_each(|note| session.note(note));
    let draw = |folder: &PathBuf| cited_pages::write(session, &library, &answer.citations, folder);
    let pages = verb.pages.as_ref().map(draw);
    if session.global.json {
        print_json(&AnswerJson { answer: &answer, page_pictures: pages })?;
    } else {
        print_end(&answer);
        if let Some(folder) = &verb.pages {
            let count = pages.as_ref().map_or(0, Vec::len);
            print_line(&format!("{count} cited pages drawn in {}", folder.display()));
        }
    }
    Ok(if session.cancel.is_cancelled() { Ending::Partial } else { Ending::Done })
}

fn show(session: &Session, streams: bool, bar: &ProgressBar, event: AskEvent) {
    match event {
        AskEvent::Token(piece) => {
            bar.finish_and_clear();
            if streams {
                print_piece(&piece);
            }
        }
        AskEvent::LoadingModel(name) => session.note(&format!("loading {name}")),
        AskEvent::Reading { read_tokens, prompt_tokens } => {
            if bar.position() == 0 {
                bar.set_message("reading the passages");
                bar.reset();
            }
            bar.set_length(prompt_tokens as u64);
            bar.set_position(read_tokens as u64);
        }
        AskEvent::Retrieved { .. } | AskEvent::Asking { .. } => {}
    }
}

/// What follows the streamed text.
fn print_end(answer: &Answer) {
    print_line("\n");
    if let Some(standalone) = &answer.standalone {
        print_line(&format!("searched for: {standalone}"));
    }
    if let Some(reason) = &answer.reason {
        print_line(reason);
    }
    // A refusal has shown the nearest passages already.
    for citation in answer.citations.iter().filter(|_| !answer.refused) {
        print_line(&format!("[{}] {}", citation.marker, source_text(&citation.path, &place_of(citation))));
        print_line(&format!("    {}", snippet(&citation.quote, 240)));
    }
    for doubtful in &answer.unsupported {
        print_line(&format!("[?] {}: {}", snippet(&doubtful.sentence, 160), doubtful.reason));
    }
    if answer.markers_dropped > 0 {
        print_line(&format!("{} markers named no passage that says it and were dropped", answer.markers_dropped));
    }
    print_line(&format!(
        "{} · {} of {} passages used, {} searched · {} + {} tokens · {:.1} s",
        answer.model,
        answer.passages_used,
        answer.passages_found,
        answer.passages_searched,
        answer.prompt_tokens,
        answer.answer_tokens,
        answer.took_ms.total / 1000.0
    ));
}

fn place_of(citation: &Citation) -> Place {
    Place { pages: citation.pages, heading: citation.heading.clone(), rows: citation.rows, lines: citation.lines }
}
