//! Checking search options, and why a search could not be done.

use serde::{Deserialize, Serialize};

use super::SearchOptions;
use crate::embed::EmbedError;
use crate::store::StoreError;

/// Why a search gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RetrieveError {
    /// An option is out of range.
    #[error("{0}")]
    Options(String),
    /// The query could not be embedded.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The library could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Which passages count as more of the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grouping {
    /// Each stands for itself.
    None,
    /// Passages with nearly the same words, and those of one document that overlap by half.
    #[default]
    Duplicates,
    /// Those, and passages of one page.
    Page,
}

/// What ranks the best passages again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reranker {
    /// A cross-encoder where one is installed, else late interaction.
    #[default]
    Auto,
    /// Late interaction of the embedder's token vectors.
    Late,
    /// A cross-encoder, which must be installed.
    Cross,
}

impl SearchOptions {
    /// Checks that every option is in its range.
    ///
    /// # Errors
    /// Names the option, what was found and what is allowed.
    pub fn check(&self) -> Result<(), RetrieveError> {
        let refuse = |detail: String| Err(RetrieveError::Options(detail));
        if self.k == 0 {
            return refuse("k is 0, expected at least 1".to_owned());
        }
        if !(0.0..=1.0).contains(&self.alpha) {
            return refuse(format!("alpha is {}, expected 0 to 1", self.alpha));
        }
        if self.mmr.is_some_and(|relevance| !(0.0..=1.0).contains(&relevance)) {
            return refuse(format!("mmr is {}, expected 0 to 1", self.mmr.unwrap_or_default()));
        }
        if self.min_score.is_some_and(|score| !score.is_finite()) {
            return refuse("min-score is not a finite number".to_owned());
        }
        if let (Some(after), Some(before)) = (self.after, self.before)
            && after >= before
        {
            return refuse(format!("after is {after} and before is {before}: no day lies between"));
        }
        self.source_glob().map(|_| ())
    }

    /// Matches paths against the source glob; `*` crosses folders, and a relative glob may start anywhere in a path.
    pub(crate) fn source_glob(&self) -> Result<Option<globset::GlobSet>, RetrieveError> {
        let Some(source) = &self.source else {
            return Ok(None);
        };
        let mut globs = globset::GlobSetBuilder::new();
        for pattern in [source.clone(), format!("**/{source}")] {
            let glob = globset::Glob::new(&pattern)
                .map_err(|err| RetrieveError::Options(format!("the source glob cannot be read: {err}")))?;
            globs.add(glob);
        }
        let globs = globs.build().map_err(|err| RetrieveError::Options(err.to_string()))?;
        Ok(Some(globs))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failure is the test's message")]

    use super::*;

    #[test]
    fn options_out_of_range_are_named() {
        let refused = |options: SearchOptions| options.check().unwrap_err().to_string();
        assert!(refused(SearchOptions { k: 0, ..SearchOptions::default() }).starts_with("k is 0"));
        for alpha in [-0.1, 1.1, f32::NAN] {
            assert!(refused(SearchOptions { alpha, ..SearchOptions::default() }).starts_with("alpha"));
        }
        for mmr in [Some(-0.1), Some(1.5), Some(f32::NAN)] {
            assert!(refused(SearchOptions { mmr, ..SearchOptions::default() }).starts_with("mmr"));
        }
        let min_score = Some(f32::NAN);
        assert!(refused(SearchOptions { min_score, ..SearchOptions::default() }).contains("min-score"));
        let (after, before) = ("2026-05-02".parse().ok(), "2026-05-02".parse().ok());
        assert!(refused(SearchOptions { after, before, ..SearchOptions::default() }).contains("no day"));
        let source = Some("[".to_owned());
        assert!(refused(SearchOptions { source, ..SearchOptions::default() }).contains("glob"));
        SearchOptions::default().check().unwrap();
    }

    #[test]
    fn globs_match_absolute_paths_and_their_ends() {
        let matches = |glob: &str, path: &str| {
            let options = SearchOptions { source: Some(glob.to_owned()), ..SearchOptions::default() };
            options.source_glob().unwrap().unwrap().is_match(path)
        };
        assert!(matches("*.md", "/home/me/notes/a.md"));
        assert!(matches("notes/*", "/home/me/notes/a.md"));
        assert!(matches("/home/me/**", "/home/me/notes/a.md"));
        assert!(matches("a.{md,txt}", "/home/me/notes/a.md"));
        assert!(!matches("otes/*", "/home/me/notes/a.md"));
        assert!(!matches("*.pdf", "/home/me/notes/a.md"));
    }
}
