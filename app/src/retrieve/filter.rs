//! [`DocumentFilter`]: which documents a search looks into. Both legs see the passages of these documents and no others.

use std::collections::BTreeSet;
use std::path::{Component, Path};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Condition, RetrieveError, SearchOptions};
use crate::extract::Metadata;
use crate::store::DocumentProfile;

/// Names of properties that a note lists.
const MOST_NAMES: usize = 12;

/// The filters of a search, all of which a document must pass.
pub(crate) struct DocumentFilter<'a> {
    tests: Vec<Test<'a>>,
    conditions: &'a [Condition],
    num_seen: usize,
    num_passed: usize,
    num_undated: usize,
    /// Documents read before their properties were kept.
    num_without_metadata: usize,
    /// Properties that documents have.
    names: BTreeSet<String>,
}

/// One filter, with how many documents it alone lets through.
struct Test<'a> {
    /// What it asks of a document, after "no document".
    wants: String,
    passes: Box<dyn Fn(&DocumentProfile) -> bool + 'a>,
    num_passed: usize,
}

impl<'a> DocumentFilter<'a> {
    /// The filters that `options` ask for; `None` where every document passes.
    pub(crate) fn new(options: &'a SearchOptions) -> Result<Option<Self>, RetrieveError> {
        let mut tests: Vec<Test<'a>> = Vec::new();
        let mut add = |wants: String, passes: Box<dyn Fn(&DocumentProfile) -> bool + 'a>| {
            tests.push(Test { wants, passes, num_passed: 0 });
        };
        let kinds = &options.kinds;
        if !kinds.is_empty() {
            let names: Vec<String> = kinds.iter().map(|kind| format!("{kind:?}").to_lowercase()).collect();
            let passes = |profile: &DocumentProfile| profile.kind.is_some_and(|kind| kinds.contains(&kind));
            add(format!("is of type {}", names.join(" or ")), Box::new(passes));
        }
        if let (Some(glob), Some(source)) = (options.source_glob()?, &options.source) {
            add(format!("matches {source}"), Box::new(move |profile| glob.is_match(&profile.path)));
        }
        if let Some(folder) = &options.folder {
            add(format!("lies in {}", folder.display()), Box::new(|profile| lies_in(&profile.path, folder)));
        }
        for condition in &options.conditions {
            add(format!("has {condition}"), Box::new(|profile| fulfils(profile, condition)));
        }
        if let Some(after) = options.after {
            let passes = move |profile: &DocumentProfile| {
                modified_secs(&profile.path).is_some_and(|secs| secs >= after.start_secs())
            };
            add(format!("was modified on {after} or later"), Box::new(passes));
        }
        if let Some(before) = options.before {
            let passes = move |profile: &DocumentProfile| {
                modified_secs(&profile.path).is_some_and(|secs| secs < before.start_secs())
            };
            add(format!("was modified before {before}"), Box::new(passes));
        }
        let filter = Self {
            tests,
            conditions: &options.conditions,
            num_seen: 0,
            num_passed: 0,
            num_undated: 0,
            num_without_metadata: 0,
            names: BTreeSet::new(),
        };
        Ok((!filter.tests.is_empty()).then_some(filter))
    }

    /// Whether a document passes. Dates are those of the file as it is now; without a file there is none.
    pub(crate) fn passes(&mut self, profile: &DocumentProfile) -> bool {
        let mut all = true;
        for test in &mut self.tests {
            let passes = (test.passes)(profile);
            test.num_passed += usize::from(passes);
            all &= passes;
        }
        self.num_seen += 1;
        self.num_passed += usize::from(all);
        if !all && self.is_dated() && modified_secs(&profile.path).is_none() {
            self.num_undated += 1;
        }
        if !self.conditions.is_empty() {
            self.num_without_metadata += usize::from(profile.metadata.is_none());
            for (name, _) in profile.metadata.iter().flat_map(Metadata::iter) {
                if !self.names.contains(name) {
                    self.names.insert(name.to_owned());
                }
            }
        }
        all
    }

    fn is_dated(&self) -> bool {
        self.tests.iter().any(|test| test.wants.starts_with("was modified"))
    }

    /// What people should know of the filters once every document was seen.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.num_seen > 0 && self.num_passed == 0 {
            let blocking: Vec<&Test<'_>> = self.tests.iter().filter(|test| test.num_passed == 0).collect();
            if blocking.is_empty() {
                notes.push("no document passes all filters at once".to_owned());
            }
            notes.extend(blocking.iter().map(|test| format!("no document {}", test.wants)));
        }
        if self.num_undated > 0 {
            notes.push(format!("{} documents have no file any more, and so no date", self.num_undated));
        }
        if self.num_without_metadata > 0 {
            notes.push(format!(
                "{} documents were read before their properties were kept; `outcrop ingest` of their files reads them \
                 again",
                self.num_without_metadata
            ));
        }
        let unknown = self.conditions.iter().map(Condition::name);
        for name in unknown.filter(|name| !BUILT_IN.contains(name) && !self.names.contains(*name)) {
            let mut known: Vec<&str> = self.names.iter().map(String::as_str).chain(BUILT_IN).collect();
            known.truncate(MOST_NAMES);
            notes.push(format!("no document has a property {name}; there are {}", known.join(", ")));
        }
        notes
    }
}

/// Properties that every document has, or every one with pages.
const BUILT_IN: [&str; 3] = ["bytes", "pages", "title"];

fn fulfils(profile: &DocumentProfile, condition: &Condition) -> bool {
    let own = match condition.name() {
        "bytes" => Some(profile.bytes.to_string()),
        "pages" => profile.pages.map(|pages| pages.to_string()),
        "title" => Some(profile.title.clone()),
        _ => None,
    };
    let said = profile.metadata.as_ref().map(|metadata| metadata.values(condition.name())).unwrap_or_default();
    condition.is_fulfilled(own.as_deref().into_iter().chain(said.iter().map(String::as_str)))
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
    use crate::extract::DocumentKind;
    use crate::store::DocumentId;

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

    fn profile(path: &Path) -> DocumentProfile {
        DocumentProfile {
            id: DocumentId(1),
            path: path.to_owned(),
            kind: Some(DocumentKind::Pdf),
            title: "Tides".to_owned(),
            pages: Some(12),
            bytes: 4,
            metadata: None,
        }
    }

    fn passes(options: &SearchOptions, profile: &DocumentProfile) -> (bool, Vec<String>) {
        let mut filter = DocumentFilter::new(options).unwrap().unwrap();
        (filter.passes(profile), filter.notes())
    }

    #[test]
    fn every_filter_must_be_passed_and_those_that_leave_nothing_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.pdf");
        std::fs::write(&file, "text").unwrap();
        let kinds = vec![DocumentKind::Docx, DocumentKind::Pdf];
        let options = SearchOptions { kinds, folder: Some(folder.path().to_owned()), ..SearchOptions::default() };
        assert_eq!(passes(&options, &profile(&file)), (true, vec![]));
        let day = |date: &str| Some(date.parse().unwrap());
        let refused = |options: SearchOptions, path: &Path| {
            let (is_in, notes) = passes(&options, &profile(path));
            assert!(!is_in, "{options:?}");
            notes
        };
        let passed = SearchOptions { after: day("2020-01-01"), before: day("9000-01-01"), ..options.clone() };
        assert!(passes(&passed, &profile(&file)).0);
        let later = SearchOptions { after: day("9000-01-01"), ..options.clone() };
        assert_eq!(refused(later, &file), ["no document was modified on 9000-01-01 or later"]);
        let earlier = SearchOptions { before: day("2020-01-01"), ..options.clone() };
        assert_eq!(refused(earlier, &file), ["no document was modified before 2020-01-01"]);
        let gone = refused(passed, &folder.path().join("gone.pdf"));
        assert!(gone.contains(&"1 documents have no file any more, and so no date".to_owned()), "{gone:?}");
        let texts = SearchOptions { kinds: vec![DocumentKind::Text], ..options.clone() };
        assert_eq!(refused(texts, &file), ["no document is of type text"]);
        let markdown = SearchOptions { source: Some("*.md".to_owned()), ..options };
        assert_eq!(refused(markdown, &file), ["no document matches *.md"]);
        assert!(DocumentFilter::new(&SearchOptions::default()).unwrap().is_none());
    }

    #[test]
    fn conditions_look_at_what_documents_say_and_at_what_all_have() {
        let mut said = profile(Path::new("/a.pdf"));
        let metadata = said.metadata.insert(Metadata::default());
        metadata.add("author", "Ada Petrel");
        metadata.add("title", "Own title");
        let with = |texts: &[&str]| SearchOptions {
            conditions: texts.iter().map(|text| text.parse().unwrap()).collect(),
            ..SearchOptions::default()
        };
        for texts in [&["author=ada*", "pages>=12"][..], &["title=tides"], &["title=own*"], &["bytes<5"], &["author"]] {
            assert_eq!(passes(&with(texts), &said), (true, vec![]), "{texts:?}");
        }
        assert_eq!(passes(&with(&["author=bo"]), &said), (false, vec!["no document has author=bo".to_owned()]));
        let notes = passes(&with(&["autor=ada*"]), &said).1;
        assert!(notes.iter().any(|note| note.contains("property autor") && note.contains("author")), "{notes:?}");
        let notes = passes(&with(&["author=ada*"]), &profile(Path::new("/a.pdf"))).1;
        assert!(notes.iter().any(|note| note.contains("`outcrop ingest`")), "{notes:?}");
    }

    #[test]
    fn filters_that_only_together_leave_nothing_are_not_blamed_alone() {
        let options = SearchOptions {
            kinds: vec![DocumentKind::Pdf],
            source: Some("*.md".to_owned()),
            ..SearchOptions::default()
        };
        let mut filter = DocumentFilter::new(&options).unwrap().unwrap();
        assert!(!filter.passes(&profile(Path::new("/a.pdf"))));
        assert!(!filter.passes(&DocumentProfile { kind: None, ..profile(Path::new("/a.md")) }));
        assert_eq!(filter.notes(), ["no document passes all filters at once"]);
    }
}
