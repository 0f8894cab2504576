//! `outcrop eval answers`.

use std::io::Write as _;

use serde::Serialize;

use super::Ending;
use super::error::CliError;
use super::eval::{advance, bar, embedder};
use super::eval_args::EvalAnswersVerb;
use super::output::print_line;
use super::session::Session;
use crate::answer::Generators;
use crate::eval::answers::{AnswerRecord, AnswersRow, GateRow, questions_of, replay};
use crate::eval::report::to_table;
use crate::eval::{AnswersRun, EvalError, JudgedSet, Recorded};
use crate::library::Error;
use crate::models;

/// What was measured, as JSON.
#[derive(Serialize)]
struct Measured {
    gate: Vec<GateRow>,
    answers: Option<AnswersRow>,
}

/// Measures the gate, then a model's answers if any are asked for; or the answers of a record again.
pub(super) fn run(session: &Session, verb: &EvalAnswersVerb) -> Result<Ending, CliError> {
    let measured = match &verb.replay {
        Some(path) => Measured { gate: Vec::new(), answers: Some(replayed(session, verb, &Recorded::load(path)?)?) },
        None => measured(session, verb)?,
    };
    session.print(&measured, |measured| {
        if !measured.gate.is_empty() {
            print_line(to_table(&measured.gate).trim_end());
            print_line("");
        }
        if let Some(row) = &measured.answers {
            print_line(to_table(std::slice::from_ref(row)).trim_end());
        }
    })?;
    Ok(Ending::Done)
}

fn measured(session: &Session, verb: &EvalAnswersVerb) -> Result<Measured, CliError> {
    let mut set = JudgedSet::load(&verb.dir)?;
    let kinds = kinds(verb)?;
    // What is left is what a model answers; the gate's questions are read on their own.
    set.thin_out(verb.questions.max(1));
    let embedder = embedder(session);
    let bar = bar(session);
    bar.set_message("documents");
    let run = AnswersRun::new(&set, embedder.as_ref(), &session.cancel, &mut |done, total| advance(&bar, done, total))?;
    let gate = run.gate(&kinds)?;
    let answers = if verb.questions > 0 { Some(answers(session, verb, &run, &bar)?) } else { None };
    bar.finish_and_clear();
    Ok(Measured { gate, answers })
}

fn replayed(session: &Session, verb: &EvalAnswersVerb, records: &[Recorded]) -> Result<AnswersRow, CliError> {
    let set = JudgedSet::load(&verb.dir)?;
    keeping_records(verb, |keep| Ok(replay(&set, records, keep, &session.cancel)?))
}

/// The kinds of questions that the gate sees, answerable ones first.
fn kinds(verb: &EvalAnswersVerb) -> Result<Vec<(String, Vec<String>)>, CliError> {
    let most = verb.gate_questions;
    let mut kinds = vec![("answerable".to_owned(), questions_of(&verb.dir.join("queries.jsonl"), most)?)];
    if !verb.outside.is_empty() {
        let mut outside = Vec::new();
        for folder in &verb.outside {
            outside.extend(questions_of(&folder.join("queries.jsonl"), most.div_ceil(verb.outside.len()))?);
        }
        kinds.push(("outside the library".to_owned(), outside));
    }
    let unanswerable = verb.dir.join("unanswerable.jsonl");
    if unanswerable.exists() {
        kinds.push(("on topic, unanswerable".to_owned(), questions_of(&unanswerable, most)?));
    }
    Ok(kinds)
}

fn answers(
    session: &Session,
    verb: &EvalAnswersVerb,
    run: &AnswersRun<'_>,
    bar: &indicatif::ProgressBar,
) -> Result<AnswersRow, CliError> {
    let mut generators = Generators::new(models::folder(None, &session.home), None);
    let generator = generators.pick(verb.model.as_deref()).map_err(Error::from)?;
    bar.set_message("answers");
    let mut done = 0;
    keeping_records(verb, |keep| {
        let row = run.answers(generator, &mut |outcome| {
            done += 1;
            advance(bar, done, verb.questions);
            if let Err(err) = &outcome {
                bar.suspend(|| session.note(&format!("question {done} has no answer: {err}")));
            }
            keep(outcome);
        })?;
        Ok(row)
    })
}

/// Writes the answers that `measure` hands over to the file of records, if one is asked for.
fn keeping_records(
    verb: &EvalAnswersVerb,
    measure: impl FnOnce(&mut dyn FnMut(Result<AnswerRecord, EvalError>)) -> Result<AnswersRow, CliError>,
) -> Result<AnswersRow, CliError> {
    let unwritable = |err: std::io::Error| CliError::failed("the records could not be written", err, None);
    let mut records = verb.records.as_ref().map(std::fs::File::create).transpose().map_err(unwritable)?;
    let mut failure = None;
    let row = measure(&mut |outcome| {
        if let (Some(file), Ok(record)) = (&mut records, &outcome) {
            failure = failure.take().or(write(file, record).err());
        }
    })?;
    failure.map_or(Ok(row), |err| Err(unwritable(err)))
}

fn write(file: &mut std::fs::File, record: &AnswerRecord) -> std::io::Result<()> {
    writeln!(file, "{}", serde_json::to_string(record)?)
}
