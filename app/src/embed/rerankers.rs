//! [`Rerankers`]: the cross-encoder of a models folder, kept loaded between questions.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
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
    kept: Kept<CrossEncoder>,
}

impl Rerankers {
    /// Over the models in `models_dir`; nothing is loaded yet.
    pub fn new(models_dir: PathBuf) -> Self {
        Self { models_dir, kept: Kept::default() }
    }

    /// The first reranker by name, loaded; `None` where none is installed. Looks at the folder each time.
    ///
    /// # Errors
    /// It does not load, or `cancel` was set meanwhile; it goes on loading then, for whoever asks next.
    pub fn pick(&mut self, cancel: &CancelToken) -> Result<Option<Arc<CrossEncoder>>, EmbedError> {
        let Some(model) = models::rerankers(&self.models_dir).into_iter().next() else {
            self.kept.clear();
            return Ok(None);
        };
        let library = models::library_path(&self.models_dir, Native::OnnxRuntime);
        self.kept.get(&model, cancel, move |model| CrossEncoder::open(model, &library)).map(Some)
    }
}

/// A model that was loaded, or that is being loaded.
///
/// Invariant: at most one is loading, on a thread of its own. A question that is stopped leaves that thread to the next
/// one: a person who types stops a question with every letter.
#[derive(Debug)]
struct Kept<T> {
    loaded: Option<(RerankerModel, Arc<T>)>,
    loading: Option<Loading<T>>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { loaded: None, loading: None }
    }
}

impl<T: Send + 'static> Kept<T> {
    /// `model`, opened by `open` if it is not loaded or loading already.
    fn get(
        &mut self,
        model: &RerankerModel,
        cancel: &CancelToken,
        open: impl FnOnce(&RerankerModel) -> Result<T, EmbedError> + Send + 'static,
    ) -> Result<Arc<T>, EmbedError> {
        if let Some((loaded, kept)) = &self.loaded
            && loaded == model
        {
            return Ok(Arc::clone(kept));
        }
        self.loaded = None;
        if let Some(other) = self.loading.as_ref().filter(|loading| loading.model != *model) {
            // Nobody wants it any more, but beside it the wanted one may not fit into memory.
            drop(other.outcome(cancel).ok_or(EmbedError::Cancelled)?);
            self.loading = None;
        }
        let loading = match self.loading.take() {
            Some(loading) => loading,
            None => Loading::start(model, open)?,
        };
        let Some(outcome) = loading.outcome(cancel) else {
            self.loading = Some(loading);
            return Err(EmbedError::Cancelled);
        };
        let kept = Arc::new(outcome?);
        self.loaded = Some((model.clone(), Arc::clone(&kept)));
        Ok(kept)
    }

    /// Lets go of what is loaded; what is still loading is let go of when it is done.
    fn clear(&mut self) {
        self.loaded = None;
        self.loading.take_if(|loading| !matches!(loading.done.try_recv(), Err(TryRecvError::Empty)));
    }
}

/// A model that a thread is loading.
#[derive(Debug)]
struct Loading<T> {
    model: RerankerModel,
    done: Receiver<Result<T, EmbedError>>,
}

impl<T: Send + 'static> Loading<T> {
    fn start(
        model: &RerankerModel,
        open: impl FnOnce(&RerankerModel) -> Result<T, EmbedError> + Send + 'static,
    ) -> Result<Self, EmbedError> {
        let (send, done) = sync_channel(1);
        let to_open = model.clone();
        std::thread::Builder::new()
            .name("load-reranker".to_owned())
            .spawn(move || drop(send.send(open(&to_open))))
            .map_err(|err| EmbedError::Load(err.to_string()))?;
        Ok(Self { model: model.clone(), done })
    }

    /// What came of it; `None` where `cancel` was set before.
    fn outcome(&self, cancel: &CancelToken) -> Option<Result<T, EmbedError>> {
        loop {
            match self.done.recv_timeout(POLL) {
                Ok(outcome) => return Some(outcome),
                Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => return None,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Some(Err(EmbedError::Load("loading the reranker crashed".to_owned())));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::SyncSender;

    use super::*;

    fn model(name: &str) -> RerankerModel {
        RerankerModel {
            name: name.to_owned(),
            title: name.to_owned(),
            folder: PathBuf::from(name),
            window: 512,
            bytes: 1,
            memory_bytes: 1,
        }
    }

    fn stopped() -> CancelToken {
        let cancel = CancelToken::new();
        cancel.cancel();
        cancel
    }

    /// Opens models when it is told to, and counts them.
    struct Opener {
        begun: Arc<AtomicUsize>,
        tell: SyncSender<Result<(), EmbedError>>,
        told: Arc<Mutex<Receiver<Result<(), EmbedError>>>>,
    }

    impl Opener {
        fn new() -> Self {
            let (tell, told) = sync_channel(8);
            Self { begun: Arc::default(), tell, told: Arc::new(Mutex::new(told)) }
        }

        fn get(&self, kept: &mut Kept<String>, name: &str, cancel: &CancelToken) -> Result<Arc<String>, EmbedError> {
            let (begun, told) = (Arc::clone(&self.begun), Arc::clone(&self.told));
            kept.get(&model(name), cancel, move |model| {
                begun.fetch_add(1, Ordering::SeqCst);
                told.lock().unwrap().recv().unwrap()?;
                Ok(model.name.clone())
            })
        }

        fn begun(&self) -> usize {
            self.begun.load(Ordering::SeqCst)
        }
    }

    #[test]
    fn questions_that_are_stopped_leave_one_load_to_the_next() {
        let (opener, mut kept) = (Opener::new(), Kept::default());
        for _ in 0..4 {
            assert_eq!(opener.get(&mut kept, "a", &stopped()), Err(EmbedError::Cancelled));
        }
        assert!(opener.begun() <= 1, "two at once");
        opener.tell.send(Ok(())).unwrap();
        let first = opener.get(&mut kept, "a", &CancelToken::new()).unwrap();
        let again = opener.get(&mut kept, "a", &stopped()).unwrap();
        assert!(*first == "a" && Arc::ptr_eq(&first, &again));
        assert_eq!(opener.begun(), 1);
    }

    #[test]
    fn another_model_waits_for_the_one_that_is_loading() {
        let (opener, mut kept) = (Opener::new(), Kept::default());
        for name in ["a", "b", "a", "b"] {
            assert_eq!(opener.get(&mut kept, name, &stopped()), Err(EmbedError::Cancelled));
        }
        assert!(opener.begun() <= 1, "two at once");
        for outcome in [Ok(()), Ok(())] {
            opener.tell.send(outcome).unwrap();
        }
        assert_eq!(*opener.get(&mut kept, "b", &CancelToken::new()).unwrap(), "b");
        assert_eq!(opener.begun(), 2);
    }

    #[test]
    fn a_load_that_failed_is_told_once_and_tried_again() {
        let (opener, mut kept) = (Opener::new(), Kept::default());
        assert_eq!(opener.get(&mut kept, "a", &stopped()), Err(EmbedError::Cancelled));
        let failure = EmbedError::Load("damaged".to_owned());
        for outcome in [Err(failure.clone()), Ok(())] {
            opener.tell.send(outcome).unwrap();
        }
        assert_eq!(opener.get(&mut kept, "a", &CancelToken::new()), Err(failure));
        assert_eq!(*opener.get(&mut kept, "a", &CancelToken::new()).unwrap(), "a");
        assert_eq!(opener.begun(), 2);
    }

    #[test]
    fn what_loads_when_the_model_is_removed_is_not_kept() {
        let (opener, mut kept) = (Opener::new(), Kept::default());
        assert_eq!(opener.get(&mut kept, "a", &stopped()), Err(EmbedError::Cancelled));
        kept.clear();
        assert!(kept.loading.is_some(), "it cannot be stopped");
        opener.tell.send(Ok(())).unwrap();
        for _ in 0..200 {
            kept.clear();
            if kept.loading.is_none() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("it is kept");
    }
}
