//! [`DocumentFilter`]: which documents a search looks into. Both legs see the passages of these documents and no others.

use std::collections::BTreeSet;
use std::path::{Component, Path};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Condition, RetrieveError, SearchOptions};
use crate::extract::Metadata;
use crate::store::DocumentProfile;

/// Names of properties that a note lists.
const MOST_NAMES: usize = 12;
/// Properties that every document has, or every one with pages, whatever it says itself.
pub(crate) const BUILT_IN_PROPERTIES: [&str; 3] = ["bytes", "pages", "title"];

/// The filters of a search, all of which a document must pass.
pub(crate) struct DocumentFilter<'a> {
    options: &'a SearchOptions,
    /// All but the dates, for which the file has to be looked at.
    tests: Vec<Test<'a>>,
    num_seen: usize,
    num_passed: usize,
    /// Documents that only the dates could keep out.
    num_dated: usize,
    num_undated: usize,
    /// Documents read before their properties were kept, which only conditions kept out.
    num_without_metadata: usize,
    /// Properties that documents have.
    names: BTreeSet<String>,
}

/// One filter, with how many documents it alone lets through.
struct Test<'a> {
    /// What it asks of a document, after "no document".
    wants: String,
    passes: Box<dyn Fn(&DocumentProfile) -> bool + 'a>,
    is_condition: bool,
    num_passed: usize,
}

impl<'a> Test<'a> {
    fn new(wants: String, passes: impl Fn(&DocumentProfile) -> bool + 'a) -> Self {
        Self { wants, passes: Box::new(passes), is_condition: false, num_passed: 0 }
    }
}

impl<'a> DocumentFilter<'a> {
    /// The filters that `options` ask for; `None` where every document passes.
    pub(crate) fn new(options: &'a SearchOptions) -> Result<Option<Self>, RetrieveError> {
        let mut tests = Vec::new();
        let kinds = &options.kinds;
        if !kinds.is_empty() {
            let names: Vec<String> = kinds.iter().map(|kind| format!("{kind:?}").to_lowercase()).collect();
            tests.push(Test::new(format!("is of type {}", names.join(" or ")), |profile| {
                profile.kind.is_some_and(|kind| kinds.contains(&kind))
            }));
        }
        if let (Some(glob), Some(source)) = (options.source_glob()?, &options.source) {
            tests.push(Test::new(format!("matches {source}"), move |profile| glob.is_match(&profile.path)));
        }
        if let Some(folder) = &options.folder {
            let wants = format!("lies in {}", folder.display());
            tests.push(Test::new(wants, |profile| lies_in(&profile.path, folder)));
        }
        for condition in &options.conditions {
            let test = Test::new(format!("has {condition}"), |profile| fulfils(profile, condition));
            tests.push(Test { is_condition: true, ..test });
        }
        let filter = Self {
            options,
            tests,
            num_seen: 0,
            num_passed: 0,
            num_dated: 0,
            num_undated: 0,
            num_without_metadata: 0,
            names: BTreeSet::new(),
        };
        let is_any = !filter.tests.is_empty() || options.after.is_some() || options.before.is_some();
        Ok(is_any.then_some(filter))
    }

    /// Whether a document passes. Dates are those of the file as it is now; without a file there is none.
    pub(crate) fn passes(&mut self, profile: &DocumentProfile) -> bool {
        let (mut all, mut all_but_conditions) = (true, true);
        for test in &mut self.tests {
            let passes = (test.passes)(profile);
            test.num_passed += usize::from(passes);
            all &= passes;
            all_but_conditions &= passes || test.is_condition;
        }
        self.num_seen += 1;
        let asks_properties =
            self.options.conditions.iter().any(|condition| !BUILT_IN_PROPERTIES.contains(&condition.name()));
        if asks_properties && all_but_conditions {
            self.num_without_metadata += usize::from(profile.metadata.is_none());
            for (name, _) in profile.metadata.iter().flat_map(Metadata::iter) {
                if !self.names.contains(name) {
                    self.names.insert(name.to_owned());
                }
            }
        }
        let passes = all && self.is_of_the_time(&profile.path);
        self.num_passed += usize::from(passes);
        passes
    }

    fn is_of_the_time(&mut self, path: &Path) -> bool {
        let SearchOptions { after, before, .. } = self.options;
        if after.is_none() && before.is_none() {
            return true;
        }
        self.num_dated += 1;
        let Some(secs) = modified_secs(path) else {
            self.num_undated += 1;
            return false;
        };
        after.is_none_or(|after| secs >= after.start_secs()) && before.is_none_or(|before| secs < before.start_secs())
    }

    /// What people should know of the filters once every document was seen.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.num_seen > 0 && self.num_passed == 0 {
            notes.extend(self.what_leaves_nothing());
        }
        if self.num_undated > 0 {
            notes.push(format!("{} documents have no file any more, and so no date", self.num_undated));
        }
        if self.num_without_metadata > 0 {
            notes.push(format!(
                "{} documents were read before their properties were kept; `outcrop ingest` of their files adds them",
                self.num_without_metadata
            ));
        }
        let asked = self.options.conditions.iter().map(Condition::name);
        let unknown = asked.filter(|name| !BUILT_IN_PROPERTIES.contains(name) && !self.names.contains(*name));
        notes.extend(unknown.map(|name| format!("no document has a property {name}; {}", self.known_names(name))));
        notes
    }

    fn what_leaves_nothing(&self) -> Vec<String> {
        if self.num_dated > 0 {
            let SearchOptions { after, before, .. } = self.options;
            let days = [after.map(|day| format!("on {day} or later")), before.map(|day| format!("before {day}"))];
            let days = days.into_iter().flatten().collect::<Vec<_>>().join(" and ");
            let which = if self.tests.is_empty() { "" } else { " that passes the other filters" };
            return vec![format!("no document{which} was modified {days}")];
        }
        let blocking = self.tests.iter().filter(|test| test.num_passed == 0);
        let blocking: Vec<String> = blocking.map(|test| format!("no document {}", test.wants)).collect();
        if blocking.is_empty() { vec!["no document passes all filters at once".to_owned()] } else { blocking }
    }

    /// What people may have meant by `asked`: properties that begin like it first.
    fn known_names(&self, asked: &str) -> String {
        let first = asked.chars().next();
        let mut names: Vec<&str> =
            BUILT_IN_PROPERTIES.into_iter().chain(self.names.iter().map(String::as_str)).collect();
        names.sort_unstable();
        names.dedup();
        names.sort_by_key(|name| name.chars().next() != first);
        let left_out = names.len().saturating_sub(MOST_NAMES);
        names.truncate(MOST_NAMES);
        let more = if left_out > 0 { format!(" and {left_out} more") } else { String::new() };
        format!("there are {}{more}", names.join(", "))
    }
}

fn fulfils(profile: &DocumentProfile, condition: &Condition) -> bool {
    let said = profile.metadata.as_ref().map(|metadata| metadata.values(condition.name())).unwrap_or_default();
    let said = said.iter().map(String::as_str);
    match condition.name() {
        "bytes" => condition.is_fulfilled(std::iter::once(profile.bytes.to_string().as_str())),
        "pages" if profile.pages.is_some() => {
            condition.is_fulfilled(profile.pages.map(|pages| pages.to_string()).as_deref().into_iter())
        }
        "title" => condition.is_fulfilled(std::iter::once(profile.title.as_str()).chain(said)),
        _ => condition.is_fulfilled(said),
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
        assert_eq!(
            refused(later, &file),
            ["no document that passes the other filters was modified on 9000-01-01 or later"]
        );
        let earlier = SearchOptions { before: day("2020-01-01"), ..options.clone() };
        assert_eq!(
            refused(earlier, &file),
            ["no document that passes the other filters was modified before 2020-01-01"]
        );
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
        metadata.add("bytes", "1000");
        let with = |texts: &[&str]| SearchOptions {
            conditions: texts.iter().map(|text| text.parse().unwrap()).collect(),
            ..SearchOptions::default()
        };
        for texts in [
            &["author=ada*", "pages>=12"][..],
            &["title=tides"],
            &["title=own*"],
            &["bytes<5"],
            &["bytes!=1000"],
            &["author"],
        ] {
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

    #[test]
    fn notes_tell_only_of_documents_that_the_filter_could_have_meant() {
        let gone = profile(Path::new("/no/such.pdf"));
        let options = |conditions: &[&str]| SearchOptions {
            kinds: vec![DocumentKind::Text],
            after: Some("2020-01-01".parse().unwrap()),
            conditions: conditions.iter().map(|text| text.parse().unwrap()).collect(),
            ..SearchOptions::default()
        };
        assert_eq!(passes(&options(&[]), &gone).1, ["no document is of type text"]);
        let notes = passes(&options(&["author=x"]), &gone).1;
        assert!(!notes.iter().any(|note| note.contains("no date") || note.contains("were read before")), "{notes:?}");
        let pages = SearchOptions { conditions: vec!["pages<20".parse().unwrap()], ..SearchOptions::default() };
        assert_eq!(passes(&pages, &gone), (true, vec![]));
    }
}
