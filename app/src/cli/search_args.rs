//! How to search, as `search` and `ask` take it.

use std::path::{Component, Path, PathBuf, is_separator};

use clap::Args as ClapArgs;

use super::args::{parse_count, parse_named};
use super::error::CliError;
use crate::extract::DocumentKind;
use crate::ingest;
use crate::retrieve::{Condition, DEFAULT_ALPHA, Date, Fusion, Grouping, Reranker, SearchMode, SearchOptions};

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
    /// spreadsheet, epub, mail, rtf or image, or by a usual ending (md, pptx, xlsx, eml, png)
    #[arg(long = "type", value_name = "FORMAT", hide_possible_values = true, value_parser = parse_named::<DocumentKind>)]
    pub(super) kinds: Vec<DocumentKind>,
    /// Only documents in this folder, at any depth; a name such as `reports` stands for every folder of that name, and
    /// `./reports` for the one here
    #[arg(long, value_name = "PATH")]
    pub(super) folder: Option<PathBuf>,
    /// Only documents whose file was last modified on this day (UTC, 2026-05-31) or later
    #[arg(long, value_name = "DATE")]
    pub(super) after: Option<Date>,
    /// Only documents whose file was last modified before this day
    #[arg(long, value_name = "DATE")]
    pub(super) before: Option<Date>,
    /// Only documents with this property (may be repeated): author=ada*, created>=2024-05, pages<20, tag!=draft. Besides
    /// pages, bytes and title it is what files say of themselves: `outcrop documents --json` shows it
    #[arg(long = "where", value_name = "CONDITION")]
    pub(super) conditions: Vec<Condition>,
    /// Rank the best 50 again, which is slower: by a cross-encoder (cross), by late interaction of their tokens (late),
    /// which helps with prose and not with code, or by the first where one is installed (auto)
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
    ///
    /// # Errors
    /// The folder leads to nothing.
    pub(super) fn options(&self) -> Result<SearchOptions, CliError> {
        Ok(SearchOptions {
            k: self.k,
            mode: self.mode,
            fusion: self.fusion,
            alpha: self.alpha,
            min_score: self.min_score,
            source: self.source.clone(),
            kinds: self.kinds.clone(),
            folder: self.folder.as_deref().map(resolved).transpose()?,
            after: self.after,
            before: self.before,
            conditions: self.conditions.clone(),
            rerank: self.rerank.is_some(),
            reranker: self.rerank.unwrap_or_default(),
            group: self.group,
            mmr: self.mmr,
        })
    }
}

/// The folder as the library has it: a bare name stays one, whatever is here; anything else is a place.
///
/// # Errors
/// It goes up to where there is nothing.
fn resolved(folder: &Path) -> Result<PathBuf, CliError> {
    let has = |wanted: Component<'_>| folder.components().any(|part| part == wanted);
    let has_separator = folder.as_os_str().as_encoded_bytes().iter().any(|byte| is_separator(char::from(*byte)));
    let is_from_here = has(Component::CurDir) || has(Component::ParentDir);
    if !has_separator && !is_from_here {
        return Ok(folder.to_owned());
    }
    if folder.exists() {
        return Ok(ingest::absolute(folder));
    }
    if has(Component::ParentDir) {
        return Err(CliError::Usage(format!(
            "--folder {folder:?} leads to no folder here; expected one, or its full path"
        )));
    }
    // The full path of one that was removed, or the end of the path of one in the library.
    Ok(if is_from_here { ingest::absolute(folder) } else { folder.to_owned() })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use super::*;

    #[test]
    fn bare_names_stay_and_places_become_what_the_library_keeps() {
        // Tests run in the folder of the package, which has a `src`.
        for name in ["src", "reports", ".notes"] {
            assert_eq!(resolved(Path::new(name)).unwrap(), Path::new(name));
        }
        for place in ["./src", "src/", "src/../src", "."] {
            assert_eq!(resolved(Path::new(place)).unwrap(), ingest::absolute(Path::new(place)), "{place}");
        }
        assert!(resolved(Path::new("src/")).unwrap().is_absolute());
        assert_eq!(resolved(Path::new("./gone")).unwrap(), ingest::absolute(Path::new(".")).join("gone"));
        assert_eq!(resolved(Path::new("me/notes")).unwrap(), Path::new("me/notes"), "the end of a path");
    }

    #[test]
    fn a_place_above_that_is_not_there_is_refused() {
        for place in ["../no-such-folder", "no-such-folder/../src"] {
            let err = resolved(Path::new(place)).unwrap_err();
            assert!(matches!(&err, CliError::Usage(detail) if detail.contains(place)), "{place}");
        }
    }
}
