//! [`CrossEncoder`]: models that read a question and a passage together and say how well they fit (Nogueira & Cho 2019,
//! "Passage re-ranking with BERT"), through ONNX Runtime.

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use ort::session::{RunOptions, Session};

use super::EmbedError;
use super::batch::{Padded, plan};
use super::onnx::{MODEL_FILE, TOKENIZER_FILE, forward, read};
use super::sessions::Sessions;
use super::tokens::{Tokens, Window};
use crate::models::RerankerModel;
use crate::progress::CancelToken;

/// How often the cancel token is looked at while the model runs.
const POLL: Duration = Duration::from_millis(20);

/// A cross-encoder, loaded.
pub struct CrossEncoder {
    title: String,
    window: usize,
    tokens: Tokens,
    sessions: Sessions,
    inputs: Vec<String>,
}

impl std::fmt::Debug for CrossEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CrossEncoder").field("title", &self.title).finish_non_exhaustive()
    }
}

impl CrossEncoder {
    /// Loads `model` with the ONNX Runtime library at `library`.
    ///
    /// # Errors
    /// The library or a file of the model is missing or damaged.
    pub fn open(model: &RerankerModel, library: &Path) -> Result<Self, EmbedError> {
        let weights = read(&model.folder.join(MODEL_FILE))?;
        let tokens = Tokens::open(&model.folder.join(TOKENIZER_FILE))?;
        let (sessions, inputs) = Sessions::start(&weights, library)
            .map_err(|err| EmbedError::Load(format!("{err}: {}", model.folder.display())))?;
        Ok(Self { title: model.title.clone(), window: model.window, tokens, sessions, inputs })
    }

    /// Name shown to people.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// How well each passage fits the question, 0 to 1: the model's logits through a sigmoid. What does not fit into the
    /// model's window is cut off the passages.
    ///
    /// # Errors
    /// The model failed, or `cancel` was set; that is noticed in the middle of a batch too.
    pub fn scores(&self, question: &str, passages: &[&str], cancel: &CancelToken) -> Result<Vec<f64>, EmbedError> {
        let mut pairs = self.tokens.pairs(question, passages, self.window)?;
        let batches = plan(&mut pairs);
        let options = RunOptions::new().map_err(|err| EmbedError::Run(err.to_string()))?;
        let run = |session: &mut Session, batch: usize| {
            if cancel.is_cancelled() {
                Err(EmbedError::Cancelled)
            } else {
                self.logits(session, &pairs[batches[batch].clone()], &options)
            }
        };
        let mut scores = vec![0.0; passages.len()];
        let mut on_batch = |batch: usize, logits: Vec<Vec<f32>>| {
            for (pair, logits) in pairs[batches[batch].clone()].iter().zip(&logits) {
                scores[pair.text] = sigmoid(margin(logits));
            }
        };
        let outcome = stoppable(&options, cancel, || self.sessions.run_all(batches.len(), &run, &mut on_batch));
        match outcome {
            Err(_) if cancel.is_cancelled() => Err(EmbedError::Cancelled),
            Err(err) => Err(err),
            Ok(()) if scores.iter().all(|score: &f64| score.is_finite()) => Ok(scores),
            Ok(()) => Err(EmbedError::Run(format!("{} gave a score that is no number", self.title))),
        }
    }

    /// The logits of one batch: one number for each pair, or two (does not fit, fits).
    fn logits(
        &self,
        session: &mut Session,
        pairs: &[Window],
        options: &RunOptions,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        let padded = Padded::new(pairs);
        let (shape, logits) = forward(session, &self.inputs, &padded, options)
            .map_err(|err| EmbedError::Run(format!("{} failed: {err}", self.title)))?;
        match *shape {
            [rows] if rows == padded.rows => Ok(logits.iter().map(|logit| vec![*logit]).collect()),
            [rows, width @ (1 | 2)] if rows == padded.rows => {
                Ok(logits.chunks_exact(width).map(<[f32]>::to_vec).collect())
            }
            _ => Err(EmbedError::Run(format!(
                "{} gave a tensor of {shape:?} but one or two logits for each of {} pairs were expected",
                self.title, padded.rows
            ))),
        }
    }
}

/// Runs `work` and ends it when `cancel` is set, between two operators of the model.
fn stoppable<T>(
    options: &RunOptions,
    cancel: &CancelToken,
    work: impl FnOnce() -> Result<T, EmbedError>,
) -> Result<T, EmbedError> {
    let (done, ended) = sync_channel::<()>(0);
    std::thread::scope(|scope| {
        let watcher = std::thread::Builder::new().name("stop-reranker".to_owned());
        let watching = watcher.spawn_scoped(scope, move || {
            while ended.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                if cancel.is_cancelled() {
                    // A model that cannot be told to stop ends its batch instead.
                    let _ = options.terminate();
                    return;
                }
            }
        });
        watching.map_err(|err| EmbedError::Run(format!("no thread could be started to watch for a stop: {err}")))?;
        let outcome = work();
        drop(done);
        outcome
    })
}

/// How much more a pair fits than it does not.
fn margin(logits: &[f32]) -> f64 {
    match *logits {
        [fits_not, fits] => f64::from(fits) - f64::from(fits_not),
        [logit] => f64::from(logit),
        _ => f64::NAN,
    }
}

fn sigmoid(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_logits_are_what_their_softmax_says() {
        let softmax = 2.0_f64.exp() / (2.0_f64.exp() + 0.5_f64.exp());
        assert!((sigmoid(margin(&[0.5, 2.0])) - softmax).abs() < 1e-12);
        assert!((sigmoid(margin(&[0.0])) - 0.5).abs() < 1e-12);
        assert!(sigmoid(margin(&[])).is_nan());
    }
}
