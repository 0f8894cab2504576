//! `outcrop ask`.

use super::Ending;
use super::args::AskVerb;
use super::error::CliError;
use super::output::{print_json, print_line, print_piece};
use super::search::{checked, snippet, source_text};
use super::session::Session;
use crate::answer::{Answer, AskEvent, AskOptions, Citation};
use crate::extract::Place;
use crate::library::Access;

/// Answers a question; the text streams, its sources follow.
pub(super) fn run(session: &Session, verb: &AskVerb) -> Result<Ending, CliError> {
    let options = AskOptions {
        search: checked(verb.search.options()?)?,
        model: verb.model.clone(),
        max_answer_tokens: verb.max_tokens,
        neighbours: verb.neighbours,
        ..AskOptions::default()
    };
    let library = session.open_library(Access::Read)?;
    let streams = !session.global.json;
    let answer = library.ask(&verb.question, &options, &mut |event| show(session, streams, event), &session.cancel)?;
    answer.notes.iter().for_each(|note| session.note(note));
    if session.global.json {
        print_json(&answer)?;
    } else {
        print_end(&answer);
    }
    Ok(if session.cancel.is_cancelled() { Ending::Partial } else { Ending::Done })
}

fn show(session: &Session, streams: bool, event: AskEvent) {
    match event {
        AskEvent::Token(piece) if streams => print_piece(&piece),
        AskEvent::LoadingModel(name) => session.note(&format!("loading {name}")),
        AskEvent::Token(_) | AskEvent::Retrieved(_) => {}
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
