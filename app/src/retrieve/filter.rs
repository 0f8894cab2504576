//! [`DocumentFilter`]: which documents a search looks into. Both legs see the passages of these documents and no others.

use std::path::{Component, Path};
use std::time::{SystemTime, UNIX_EPOCH};

use globset::GlobSet;

use super::{RetrieveError, SearchOptions};
use crate::extract::DocumentKind;

/// The filters of a search, all of which a document must pass.
pub(crate) struct DocumentFilter<'a> {
    options: &'a SearchOptions,
    glob: Option<GlobSet>,
    num_undated: usize,
}

impl<'a> DocumentFilter<'a> {
    /// The filters that `options` ask for; `None` where every document passes.
    pub(crate) fn new(options: &'a SearchOptions) -> Result<Option<Self>, RetrieveError> {
        let glob = options.source_glob()?;
        let filter = Self { options, glob, num_undated: 0 };
        let is_any =
            filter.glob.is_some() || filter.is_dated() || options.folder.is_some() || !options.kinds.is_empty();
        Ok(is_any.then_some(filter))
    }

    /// Whether a document passes. Dates are those of the file as it is now; without a file there is none.
    pub(crate) fn passes(&mut self, path: &Path, kind: Option<DocumentKind>) -> bool {
        let options = self.options;
        let kinds = &options.kinds;
        (kinds.is_empty() || kind.is_some_and(|kind| kinds.contains(&kind)))
            && self.glob.as_ref().is_none_or(|glob| glob.is_match(path))
            && options.folder.as_ref().is_none_or(|folder| lies_in(path, folder))
            && (!self.is_dated() || self.is_of_the_time(path))
    }

    /// Documents that only their missing date kept out.
    pub(crate) fn num_undated(&self) -> usize {
        self.num_undated
    }

    fn is_dated(&self) -> bool {
        self.options.after.is_some() || self.options.before.is_some()
    }

    fn is_of_the_time(&mut self, path: &Path) -> bool {
        let Some(secs) = modified_secs(path) else {
            self.num_undated += 1;
            return false;
        };
        self.options.after.is_none_or(|after| secs >= after.start_secs())
            && self.options.before.is_none_or(|before| secs < before.start_secs())
    }
}

/// Whether a file lies in a folder, at any depth. A folder that is not absolute may stand anywhere in the path.
fn lies_in(path: &Path, folder: &Path) -> bool {
    if folder.is_absolute() {
        return path != folder && path.starts_with(folder);
    }
    let wanted: Vec<Component<'_>> = folder.components().filter(|part| *part != Component::CurDir).collect();
    let parent = path.parent().unwrap_or(path);
    let parts: Vec<Component<'_>> = parent.components().collect();
    wanted.is_empty() || parts.windows(wanted.len()).any(|parts| parts == wanted)
}

fn modified_secs(path: &Path) -> Option<i64> {
    secs_since_epoch(path.metadata().ok()?.modified().ok()?)
}

/// Whole seconds since 1970, towards the past.
fn secs_since_epoch(time: SystemTime) -> Option<i64> {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_secs()).ok(),
        Err(before) => {
            let before = before.duration();
            let begun = i64::from(before.subsec_nanos() > 0);
            i64::try_from(before.as_secs()).ok()?.checked_neg()?.checked_sub(begun)
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failure is the test's message")]

    use std::time::Duration;

    use super::*;

    #[test]
    fn seconds_are_whole_on_both_sides_of_1970() {
        for (millis, expected) in [(0, 0), (999, 0), (1000, 1)] {
            assert_eq!(secs_since_epoch(UNIX_EPOCH + Duration::from_millis(millis)), Some(expected), "{millis} after");
        }
        for (millis, expected) in [(1, -1), (1000, -1), (1500, -2), (86_400_000, -86_400)] {
            assert_eq!(secs_since_epoch(UNIX_EPOCH - Duration::from_millis(millis)), Some(expected), "{millis} before");
        }
    }

    #[test]
    fn folders_hold_what_lies_in_them_at_any_depth() {
        let lies = |folder: &str| lies_in(Path::new("/home/me/notes/old/a.md"), Path::new(folder));
        for folder in ["/home/me/notes", "/home/me/notes/old/", "/", "notes", "me/notes", "old", "./notes", "."] {
            assert!(lies(folder), "{folder}");
        }
        for folder in ["/home/me/note", "note", "otes/old", "a.md", "/home/me/notes/old/a.md", "old/a.md", "me/old"] {
            assert!(!lies(folder), "{folder}");
        }
    }

    #[test]
    fn every_filter_must_be_passed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.pdf");
        std::fs::write(&file, "text").unwrap();
        let passes = |options: SearchOptions, path: &Path| {
            let mut filter = DocumentFilter::new(&options).unwrap().unwrap();
            (filter.passes(path, Some(DocumentKind::Pdf)), filter.num_undated())
        };
        let kinds = vec![DocumentKind::Docx, DocumentKind::Pdf];
        let options = SearchOptions { kinds, folder: Some(folder.path().to_owned()), ..SearchOptions::default() };
        assert_eq!(passes(options.clone(), &file), (true, 0));
        let after = |date: &str| Some(date.parse().unwrap());
        assert_eq!(passes(SearchOptions { after: after("2020-01-01"), ..options.clone() }, &file), (true, 0));
        assert_eq!(passes(SearchOptions { after: after("9000-01-01"), ..options.clone() }, &file), (false, 0));
        assert_eq!(passes(SearchOptions { before: after("2020-01-01"), ..options.clone() }, &file), (false, 0));
        let gone = folder.path().join("gone.pdf");
        assert_eq!(passes(SearchOptions { after: after("2020-01-01"), ..options.clone() }, &gone), (false, 1));
        assert_eq!(passes(SearchOptions { kinds: vec![DocumentKind::Text], ..options.clone() }, &file), (false, 0));
        assert_eq!(passes(SearchOptions { source: Some("*.md".to_owned()), ..options }, &file), (false, 0));
        assert!(DocumentFilter::new(&SearchOptions::default()).unwrap().is_none());
    }
}
