//! Text to vectors: the [`Embedder`] trait, the ONNX models and the hash embedder.
//!
//! Start at [`open_installed`], which gives the installed model or the hash embedder with a note. A model is a
//! folder with `model.onnx`, `tokenizer.json` and `manifest.toml` (see [`Manifest`]). [`CrossEncoder`] reads a question
//! and a passage together instead, and gives a score.
//!
//! Invariants: the same text has the same vector whatever is embedded beside it; text beyond a model's window
//! is embedded in windows and averaged, never dropped; a blank text has the zero vector.
//!
//! Must not know: libraries, chunkers, how models are fetched.

mod batch;
mod cross;
mod hash;
mod installed;
mod manifest;
mod onnx;
mod pool;
mod rerankers;
mod sessions;
mod tokens;

pub use cross::CrossEncoder;
pub use hash::HashEmbedder;
pub use installed::{DEFAULT_MODEL, open_installed};
pub use manifest::{LongTexts, Manifest, Pooling};
pub use onnx::OnnxEmbedder;
pub use rerankers::Rerankers;

use crate::progress::CancelToken;

/// Whether a text is searched for or searched in (some models want a prefix for each).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextRole {
    /// What the user asks.
    Query,
    /// What is indexed.
    Passage,
}

/// Why texts got no vectors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// A file of the model is missing or does not load.
    #[error("{0}")]
    Load(String),
    /// The model failed on a batch.
    #[error("{0}")]
    Run(String),
    /// The user stopped it.
    #[error("cancelled")]
    Cancelled,
}

/// The vectors of a text's tokens, special ones left out, for late interaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenVectors {
    /// Dimensions of a row.
    pub dims: usize,
    /// One row for each token: a unit vector in steps of 1/127.
    pub rows: Vec<i8>,
}

/// Turns texts into unit-length vectors.
pub trait Embedder: Send + Sync {
    /// Name shown to people, for example `all-MiniLM-L6-v2 (int8)`.
    fn name(&self) -> &str;

    /// Stable identity of weights, tokenizer, pooling and prefixes, as `[a-z0-9-]+`; names the vector file.
    fn fingerprint(&self) -> &str;

    /// Dimensions of a vector.
    fn dims(&self) -> usize;

    /// Tokens of `text` alone, special tokens not counted.
    fn count_tokens(&self, text: &str) -> usize;

    /// Tokens that one forward pass can see, special tokens not counted. Of longer texts the
    /// windows are averaged, so that nothing is dropped, unless the model's manifest says otherwise.
    fn window_tokens(&self) -> usize;

    /// Vectors of `texts`, row by row (`texts.len() * dims` floats), each of unit length (zero for a blank text).
    /// `on_done` gets the number of texts finished so far, after each batch.
    ///
    /// # Errors
    /// The model failed, or `cancel` was set.
    fn embed(
        &self,
        texts: &[&str],
        role: TextRole,
        cancel: &CancelToken,
        on_done: &mut dyn FnMut(usize),
    ) -> Result<Vec<f32>, EmbedError>;

    /// The vectors of each text's tokens; `None` for an embedder that has none.
    ///
    /// # Errors
    /// The model failed, or `cancel` was set.
    fn token_vectors(
        &self,
        texts: &[&str],
        role: TextRole,
        cancel: &CancelToken,
    ) -> Result<Option<Vec<TokenVectors>>, EmbedError>;
}
