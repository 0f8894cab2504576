//! How to search, as `search` and `ask` take it.

use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use super::args::{parse_count, parse_named};
use crate::extract::DocumentKind;
use crate::retrieve::{DEFAULT_ALPHA, Date, Fusion, Grouping, Reranker, SearchMode, SearchOptions};

#[derive(Clone, Debug, ClapArgs)]
pub(super) struct SearchArgs {
    /// Passages wanted
    #[arg(short, default_value_t = 10, value_name = "N", value_parser = parse_count)]
    pub(super) k: usize,
    /// Which legs run: hybrid, vector or keyword
    #[arg(long, default_value = "hybrid", value_parser = parse_named::<SearchMode>)]
    pub(super) mode: SearchMode,
    /// How the legs are fused: weighted or rrf
    #[arg(long, default_value = "weighted", value_parser = parse_named::<Fusion>)]
    pub(super) fusion: Fusion,
    /// Weight of the vector leg in weighted fusion, 0 to 1
    #[arg(long, default_value_t = DEFAULT_ALPHA, value_name = "X")]
    pub(super) alpha: f32,
    /// Leave out hits whose final score is lower
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(super) min_score: Option<f32>,
    /// Only documents whose path matches this glob, for example '*.pdf'
    #[arg(long, value_name = "GLOB")]
    pub(super) source: Option<String>,
    /// Only documents of this format (may be repeated): text, markdown, html, csv, json, code, pdf, docx, odt, slides,
    /// spreadsheet, epub, mail, rtf or image
    #[arg(long = "type", value_name = "FORMAT", hide_possible_values = true, value_parser = parse_named::<DocumentKind>)]
    pub(super) kinds: Vec<DocumentKind>,
    /// Only documents in this folder, at any depth; a name such as `reports` stands for every folder of that name
    #[arg(long, value_name = "PATH")]
    pub(super) folder: Option<PathBuf>,
    /// Only documents whose file was last modified on this day (UTC, 2026-05-31) or later
    #[arg(long, value_name = "DATE")]
    pub(super) after: Option<Date>,
    /// Only documents whose file was last modified before this day
    #[arg(long, value_name = "DATE")]
    pub(super) before: Option<Date>,
    /// Rank the best 50 again, which is better and slower: by a cross-encoder (cross), by late interaction of their
    /// tokens (late), or by the first where one is installed (auto)
    #[arg(long, value_name = "auto|late|cross", num_args = 0..=1, require_equals = true, default_missing_value = "auto",
          value_parser = parse_named::<Reranker>)]
    pub(super) rerank: Option<Reranker>,
    /// Fold passages under the best of their kind: none, duplicates or page
    #[arg(long, default_value = "duplicates", value_parser = parse_named::<Grouping>)]
    pub(super) group: Grouping,
    /// Prefer passages unlike those before them: 1 looks at relevance alone, 0 at novelty alone
    #[arg(long, value_name = "X")]
    pub(super) mmr: Option<f32>,
}

impl SearchArgs {
    /// The library's options.
    pub(super) fn options(&self) -> SearchOptions {
        SearchOptions {
            k: self.k,
            mode: self.mode,
            fusion: self.fusion,
            alpha: self.alpha,
            min_score: self.min_score,
            source: self.source.clone(),
            kinds: self.kinds.clone(),
            folder: self.folder.as_deref().map(resolved),
            after: self.after,
            before: self.before,
            rerank: self.rerank.is_some(),
            reranker: self.rerank.unwrap_or_default(),
            group: self.group,
            mmr: self.mmr,
        }
    }
}

/// A folder that is there, in full; a name that is no folder here may be one in the library.
fn resolved(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}
