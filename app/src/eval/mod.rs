//! Measuring chunkers and retrieval on labelled sets, with the published definitions.
//!
//! Start reading at [`chunking`] (recall, precision, precision-omega and IoU of excerpts; Smith & Troynikov 2024,
//! "Evaluating Chunking Strategies for Retrieval") and at [`retrieval`] (nDCG, recall and MRR of documents).
//! Everything takes any [`Embedder`](crate::embed::Embedder); no library is opened.

pub mod anchors;
pub mod bootstrap;
mod cache;
pub mod chunking;
mod error;
pub mod excerpts;
pub mod figure;
pub mod html;
pub mod judgements;
pub mod published;
pub mod ranges;
pub mod report;
pub mod retrieval;
mod run;
mod subject;

pub use cache::CachedEmbedder;
pub use error::EvalError;
pub use excerpts::ExcerptSet;
pub use judgements::JudgedSet;
pub use run::{ChunkingRun, RetrievalRun};
pub use subject::{Splitter, Subject};
