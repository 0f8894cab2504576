//! Measuring chunkers and retrieval on labelled sets, with the published definitions.
//!
//! Start reading at [`chunking`] (recall, precision, precision-omega and IoU of excerpts; Smith & Troynikov 2024,
//! "Evaluating Chunking Strategies for Retrieval") and at [`retrieval`] (nDCG, recall and MRR of documents).
//! The gate and generated answers are measured in [`answers`].
//! Everything takes any [`Embedder`](crate::embed::Embedder); no library is opened.

pub mod anchors;
pub mod answer_rows;
pub mod answers;
pub mod bootstrap;
mod cache;
pub mod chunking;
mod error;
pub mod excerpts;
pub mod figure;
pub mod html;
mod judged;
pub mod judgements;
pub mod published;
pub mod ranges;
mod replay;
pub mod report;
pub mod retrieval;
mod run;
mod subject;

pub use answers::AnswersRun;
pub use cache::CachedEmbedder;
pub use error::EvalError;
pub use excerpts::ExcerptSet;
pub use judged::RetrievalRun;
pub use judgements::JudgedSet;
pub use replay::Recorded;
pub use run::ChunkingRun;
pub use subject::{Splitter, Subject};
