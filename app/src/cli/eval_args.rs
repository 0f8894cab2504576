//! The arguments of `outcrop eval`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use super::args::{parse_count, parse_named, parse_unit};
use crate::chunk::{ChunkerConfig, Threshold, Unit};
use crate::retrieve::SearchMode;

#[derive(Debug, Subcommand)]
pub(super) enum EvalVerb {
    /// Recall, precision and IoU of chunkers on questions with excerpts (corpora/*.md, questions_df.csv)
    Chunking(EvalChunkingVerb),
    /// nDCG, recall and MRR on questions with documents (docs.jsonl, queries.jsonl, qrels.tsv)
    Retrieval(EvalRetrievalVerb),
    /// What the gate refuses, and how much of what a model writes the passages support
    Answers(EvalAnswersVerb),
}

#[derive(Debug, ClapArgs)]
pub(super) struct EvalChunkingVerb {
    /// Folder of the set
    pub(super) dir: PathBuf,
    /// Measure this chunker alone (may be repeated; the others are compared with the first): `KIND` or
    /// `KIND:key=value,…` with size, overlap, min, threshold, window, unit, context=headings, surround=N
    /// [default: all of them and the published ones]
    #[arg(long, value_name = "SPEC")]
    pub(super) chunker: Vec<String>,
    /// Most tokens (or characters) of a chunk
    #[arg(long, default_value_t = 200, value_name = "N")]
    pub(super) size: usize,
    /// Tokens (or characters) repeated from the chunk before
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(super) overlap: usize,
    /// Chunks smaller than this are merged with a neighbour where the size allows it
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(super) min_size: usize,
    /// Where the semantic chunkers cut: `auto`, a cosine from 0 to 1, sd1.5, p95, iqr1.5 or gradient95
    #[arg(long, default_value = "auto", value_name = "auto|X")]
    pub(super) threshold: Threshold,
    /// Find chunks in this way alone: vector, keyword or hybrid (may be repeated; keyword alone embeds no chunk)
    /// [default: all three]
    #[arg(long, value_parser = parse_named::<SearchMode>)]
    pub(super) mode: Vec<SearchMode>,
    /// Weight of the vector leg in the hybrid row, 0 to 1
    #[arg(long, default_value_t = 0.5, value_name = "X")]
    pub(super) alpha: f32,
    /// What sizes are counted in: chars or tokens
    #[arg(long, default_value = "tokens", value_parser = parse_unit)]
    pub(super) unit: Unit,
    /// Write the table to this file too
    #[arg(long, value_name = "FILE")]
    pub(super) csv: Option<PathBuf>,
    /// Write the picture of recall over IoU to this file
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<PathBuf>,
    /// Write a report as one HTML file: pictures, tables, what differs and by how much
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
}

impl EvalChunkingVerb {
    /// What a chunker takes where its own text says nothing.
    pub(super) fn base(&self) -> ChunkerConfig {
        ChunkerConfig {
            size: self.size,
            overlap: self.overlap,
            min_size: self.min_size,
            threshold: self.threshold,
            unit: self.unit,
            ..ChunkerConfig::default()
        }
    }
}

#[derive(Debug, ClapArgs)]
pub(super) struct EvalRetrievalVerb {
    /// Folder of the set
    pub(super) dir: PathBuf,
    /// Measure reranking by late interaction too; embeds every document a second time
    #[arg(long)]
    pub(super) rerank: bool,
    /// Ask at most this many questions, spread over the set
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub(super) questions: Option<usize>,
    /// Write the table to this file too
    #[arg(long, value_name = "FILE")]
    pub(super) csv: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct EvalAnswersVerb {
    /// Folder of the set; `unanswerable.jsonl` in it is asked too
    pub(super) dir: PathBuf,
    /// Folders of other sets whose questions this one cannot answer
    #[arg(long, value_name = "DIR")]
    pub(super) outside: Vec<PathBuf>,
    /// Most questions of each kind that the gate is measured with
    #[arg(long, default_value_t = 250, value_name = "N", value_parser = parse_count)]
    pub(super) gate_questions: usize,
    /// Questions that a model answers; 0 measures the gate alone
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(super) questions: usize,
    /// Of the questions that the set does not answer and the gate lets through, how many of each kind the model is
    /// asked too
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(super) unanswered: usize,
    /// A model's name, or `extractive` [default: the best one installed]
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// Write every answer to this file, a JSON line each: the answer, what the model wrote before it was checked, and
    /// the passages that it was given
    #[arg(long, value_name = "FILE")]
    pub(super) records: Option<PathBuf>,
    /// Check again what models wrote in this file of `--records`; no model is asked, no gate is measured, and questions
    /// that reached no model are left out
    #[arg(long, value_name = "FILE", conflicts_with_all = ["outside", "gate_questions", "questions", "unanswered", "model"])]
    pub(super) replay: Option<PathBuf>,
}
