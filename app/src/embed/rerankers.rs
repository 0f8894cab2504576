//! [`Rerankers`]: the cross-encoder of a models folder, kept loaded between questions.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use super::{CrossEncoder, EmbedError};
use crate::models::{self, Native, RerankerModel};
use crate::progress::CancelToken;

/// How often the cancel token is looked at while a model loads.
const POLL: Duration = Duration::from_millis(50);

/// The rerankers of a models folder; at most one is loaded.
#[derive(Debug)]
pub struct Rerankers {
    models_dir: PathBuf,
    loaded: Option<(RerankerModel, Arc<CrossEncoder>)>,
}

impl Rerankers {
    /// Over the models in `models_dir`; nothing is loaded yet.
    pub fn new(models_dir: PathBuf) -> Self {
        Self { models_dir, loaded: None }
    }

    /// The first reranker by name, loaded; `None` where none is installed. Looks at the folder each time.
    ///
    /// # Errors
    /// It does not load, or `cancel` was set meanwhile.
    pub fn pick(&mut self, cancel: &CancelToken) -> Result<Option<Arc<CrossEncoder>>, EmbedError> {
        let Some(model) = models::rerankers(&self.models_dir).into_iter().next() else {
            self.loaded = None;
            return Ok(None);
        };
        if let Some((loaded, encoder)) = &self.loaded
            && *loaded == model
        {
            return Ok(Some(Arc::clone(encoder)));
        }
        self.loaded = None;
        let encoder = Arc::new(self.load(&model, cancel)?);
        self.loaded = Some((model, Arc::clone(&encoder)));
        Ok(Some(encoder))
    }

    /// Loads on a thread of its own, which is left alone when nobody waits for it any more.
    fn load(&self, model: &RerankerModel, cancel: &CancelToken) -> Result<CrossEncoder, EmbedError> {
        let library = models::library_path(&self.models_dir, Native::OnnxRuntime);
        let (send, receive) = sync_channel(1);
        let model = model.clone();
        std::thread::Builder::new()
            .name("load-reranker".to_owned())
            .spawn(move || drop(send.send(CrossEncoder::open(&model, &library))))
            .map_err(|err| EmbedError::Load(err.to_string()))?;
        loop {
            match receive.recv_timeout(POLL) {
                Ok(outcome) => return outcome,
                Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => return Err(EmbedError::Cancelled),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(EmbedError::Load("loading the reranker crashed".to_owned()));
                }
            }
        }
    }
}
