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
use crate::eval::answer_rows::{ANSWERABLE, AnswerRecord, AnswersRow, GateRow};
use crate::eval::answers::{MOST_FAILURES, questions_of, replay};
use crate::eval::judgements::JudgedQuestion;
use crate::eval::report::to_table;
use crate::eval::{AnswersRun, EvalError, JudgedSet, Recorded};
use crate::library::Error;
use crate::models;

/// What was measured, as JSON.
#[derive(Serialize)]
struct Measured {
    gate: Vec<GateRow>,
    answers: Vec<AnswersRow>,
}

/// Measures the gate, then a model's answers if any are asked for; or the answers of a record again.
pub(super) fn run(session: &Session, verb: &EvalAnswersVerb) -> Result<Ending, CliError> {
    let measured = match &verb.replay {
        Some(path) => Measured { gate: Vec::new(), answers: replayed(session, verb, &Recorded::load(path)?)? },
        None => measured(session, verb)?,
    };
    session.print(&measured, |measured| {
        if !measured.gate.is_empty() {
            print_line(to_table(&measured.gate).trim_end());
            print_line("");
        }
        if !measured.answers.is_empty() {
            print_line(to_table(&measured.answers).trim_end());
        }
    })?;
    let broken_off = measured.answers.iter().find_map(|row| row.broken_off.as_ref());
    if let Some(why) = broken_off {
        session
            .note(&format!("not all questions were asked, as the model failed {MOST_FAILURES} times in a row: {why}"));
    }
    Ok(if broken_off.is_some() { Ending::Partial } else { Ending::Done })
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
    let mut asked = Vec::new();
    if verb.questions > 0 {
        asked.push((ANSWERABLE.to_owned(), set.questions.clone()));
    }
    for (kind, questions) in kinds.iter().skip(1).filter(|_| verb.unanswered > 0) {
        asked.push((kind.clone(), run.let_through(questions, verb.unanswered)?));
    }
    let answers = if asked.is_empty() { Vec::new() } else { answers(session, verb, &run, &asked, &bar)? };
    bar.finish_and_clear();
    Ok(Measured { gate, answers })
}

fn replayed(session: &Session, verb: &EvalAnswersVerb, records: &[Recorded]) -> Result<Vec<AnswersRow>, CliError> {
    let set = JudgedSet::load(&verb.dir)?;
    keeping_records(verb, |keep| Ok(replay(&set, records, keep, &session.cancel)?))
}

/// The kinds of questions that the gate sees, answerable ones first.
fn kinds(verb: &EvalAnswersVerb) -> Result<Vec<(String, Vec<String>)>, CliError> {
    let most = verb.gate_questions;
    let mut kinds = vec![(ANSWERABLE.to_owned(), questions_of(&verb.dir.join("queries.jsonl"), most)?)];
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
    kinds: &[(String, Vec<JudgedQuestion>)],
    bar: &indicatif::ProgressBar,
) -> Result<Vec<AnswersRow>, CliError> {
    let mut generators = Generators::new(models::folder(None, &session.home), None);
    bar.set_message("answers");
    let total = kinds.iter().map(|(_, questions)| questions.len()).sum();
    let mut done = 0;
    keeping_records(verb, |keep| {
        let mut rows: Vec<AnswersRow> = Vec::new();
        for (kind, questions) in kinds {
            let generator = generators.pick(verb.model.as_deref()).map_err(Error::from)?;
            rows.push(run.answers_to(kind, questions, generator, &mut |outcome| {
                done += 1;
                advance(bar, done, total);
                if let Err(err) = &outcome {
                    bar.suspend(|| session.note(&format!("question {done} has no answer: {err}")));
                }
                keep(outcome);
            })?);
            if rows.last().is_some_and(|row| row.broken_off.is_some()) {
                break;
            }
        }
        Ok(rows)
    })
}

/// Writes the answers that `measure` hands over to the file of records, if one is asked for.
fn keeping_records(
    verb: &EvalAnswersVerb,
    measure: impl FnOnce(&mut dyn FnMut(Result<AnswerRecord, EvalError>)) -> Result<Vec<AnswersRow>, CliError>,
) -> Result<Vec<AnswersRow>, CliError> {
    let unwritable = |err: std::io::Error| CliError::failed("the records could not be written", err, None);
    let mut records = verb.records.as_ref().map(std::fs::File::create).transpose().map_err(unwritable)?;
    let mut failure = None;
    let rows = measure(&mut |outcome| {
        if let (Some(file), Ok(record)) = (&mut records, &outcome) {
            failure = failure.take().or(write(file, record).err());
        }
    })?;
    failure.map_or(Ok(rows), |err| Err(unwritable(err)))
}

fn write(file: &mut std::fs::File, record: &AnswerRecord) -> std::io::Result<()> {
    writeln!(file, "{}", serde_json::to_string(record)?)
}
