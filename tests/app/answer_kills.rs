//! Workers killed in mid-answer: what is said, and that the next question is answered.

use std::sync::Arc;
use std::time::Duration;

use outcrop::CancelToken;
use outcrop::answer::{GenerateError, GenerateEvent, Generation, Generator, LlamaGenerator};

use super::model_support::{WatchedWorker, test_generator_run_by};
use super::prompt;

const KILLS: u64 = 50;
/// Far beyond the last moment at which a worker is killed.
const LONG_ANSWER: usize = 400;

/// When a worker is killed; each of these moments lies between the question and the answer's end.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// So long after the worker has started, while it loads the model or just begins to read.
    Starting(Duration),
    /// After so many parts of the prompt.
    Reading(u64),
    /// After so many pieces of the answer.
    Writing(u64),
}

/// Small numbers that look random, the same in every run.
fn scatter(seed: u64) -> u64 {
    let mixed = (seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33
}

impl Moment {
    fn random(round: u64) -> Self {
        let at = scatter(round * 2 + 1);
        match scatter(round * 2) % 4 {
            0 => Self::Starting(Duration::from_millis(at % 60)),
            1 => Self::Reading(1 + at % 2),
            _ => Self::Writing(1 + at % 8),
        }
    }
}

/// The outcome of a long answer whose worker is killed at `moment`.
fn killed_at(
    moment: Moment,
    worker: &Arc<WatchedWorker>,
    generator: &mut LlamaGenerator,
) -> Result<Generation, GenerateError> {
    let story = format!("{} Tell me a long story about it.", "The survey went on in the rain. ".repeat(16));
    let mut killer = None;
    if let Moment::Starting(delay) = moment {
        // The question starts another worker, which is the one to be killed.
        generator.count_tokens("load").unwrap();
        worker.kill();
        while generator.is_loaded() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let (dead, worker) = (worker.process_id(), Arc::clone(worker));
        let kill = move || {
            while worker.process_id().is_none() || worker.process_id() == dead {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(delay);
            worker.kill();
        };
        killer = Some(std::thread::Builder::new().name("kill".to_owned()).spawn(kill).unwrap());
    }
    let (mut parts, mut pieces) = (0, 0);
    let mut on_event = |event: GenerateEvent<'_>| {
        match event {
            GenerateEvent::Reading { .. } => parts += 1,
            GenerateEvent::Piece(_) => pieces += 1,
        }
        match (moment, event) {
            (Moment::Reading(at), GenerateEvent::Reading { .. }) if parts == at => worker.kill(),
            (Moment::Writing(at), GenerateEvent::Piece(_)) if pieces == at => worker.kill(),
            _ => {}
        }
    };
    let outcome = generator.generate(&prompt(&story), LONG_ANSWER, &mut on_event, &CancelToken::new());
    if let Some(killer) = killer {
        killer.join().unwrap();
    }
    outcome
}

#[test]
fn after_each_of_fifty_kills_in_mid_answer_the_next_question_is_answered_in_full() {
    let worker = Arc::new(WatchedWorker::new());
    let mut generator = test_generator_run_by(worker.program());
    for round in 0..KILLS {
        let moment = Moment::random(round);
        let err = killed_at(moment, &worker, &mut generator).expect_err("the worker was killed in mid-answer");
        let said = err.to_string();
        assert!(said.contains("killed"), "{round}, {moment:?}: {said}");
        match err {
            GenerateError::Died { partial, .. } => {
                assert!(said.contains("ask again"), "{said}");
                assert_eq!(partial.is_empty(), !matches!(moment, Moment::Writing(_)), "{moment:?}: {partial:?}");
            }
            GenerateError::Load(_) => assert!(matches!(moment, Moment::Starting(_)), "{moment:?}: {said}"),
            other => panic!("{moment:?}: {other}"),
        }
        let question = prompt("What is the capital of France?");
        let next = generator.generate(&question, 40, &mut |_| (), &CancelToken::new()).unwrap();
        assert!(next.text.contains("Paris") && next.stopped.is_none(), "{round}, {moment:?}: {next:?}");
    }
}
