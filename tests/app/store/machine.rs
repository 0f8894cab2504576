//! The invariant as a state machine: whatever is done to a library, its searchable set is its ready documents.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use std::time::Duration;

use outcrop::store::DocumentStatus;
use outcrop::watch::Changes;
use outcrop::{CancelToken, Library};
use proptest::prelude::*;

use super::fixture::{World, assert_searchable_is_ready, chunks_of, ingest_with, name_of};
use super::kill::{open_for_writing, start_ingest};

/// Sequences of one run; more are asked for by `OUTCROP_SEQUENCES`.
const SEQUENCES: u32 = 24;
const FILES: usize = 20;

#[derive(Clone, Debug)]
enum Step {
    Write {
        file: usize,
        version: usize,
    },
    Spoil {
        file: usize,
    },
    Delete {
        file: usize,
    },
    Rename {
        from: usize,
        to: usize,
    },
    Ingest {
        size: usize,
    },
    CancelledIngest {
        after: usize,
    },
    /// What changed since the last complete ingest is read, and nothing else.
    IngestChanges,
    /// An ingest in another process, killed after a while.
    KilledIngest {
        millis: u64,
    },
    Remove {
        file: usize,
    },
    SecondInstance,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..FILES, 0..5_usize).prop_map(|(file, version)| Step::Write { file, version }),
        1 => (0..FILES).prop_map(|file| Step::Spoil { file }),
        1 => (0..FILES).prop_map(|file| Step::Delete { file }),
        2 => (0..FILES, 0..FILES).prop_map(|(from, to)| Step::Rename { from, to }),
        4 => prop_oneof![Just(60), Just(90)].prop_map(|size| Step::Ingest { size }),
        2 => (1..40_usize).prop_map(|after| Step::CancelledIngest { after }),
        2 => (0..FILES).prop_map(|file| Step::Remove { file }),
        3 => Just(Step::IngestChanges),
        1 => (0..150_u64).prop_map(|millis| Step::KilledIngest { millis }),
        1 => Just(Step::SecondInstance),
        1 => Just(Step::Reopen),
    ]
}

fn name(file: usize) -> String {
    format!("f{file}.txt")
}

/// Paragraphs that all hold the word `strata`; versions differ in words and length, some are shared by all files.
fn text(file: usize, version: usize) -> String {
    let file = if version == 0 { 0 } else { file };
    let line = |line| format!("Line {line} of text {file} holds strata, version {version}.");
    (0..=(version * 2)).map(line).collect::<Vec<_>>().join("\n\n")
}

/// What the library must hold after a complete ingest: the text of each readable file, by name.
#[derive(Default)]
struct Model {
    on_disk: BTreeMap<String, Option<String>>,
    held: BTreeMap<String, String>,
    /// Files that may differ from what is held.
    changed: BTreeSet<String>,
}

struct Run {
    world: World,
    library: Option<Library>,
    model: Model,
}

impl Run {
    fn new() -> Self {
        let world = World::new();
        let library = Some(world.open());
        Self { world, library, model: Model::default() }
    }

    fn library(&self) -> &Library {
        self.library.as_ref().unwrap()
    }

    fn apply(&mut self, step: &Step) {
        match *step {
            Step::Write { file, version } => self.write(&name(file), Some(text(file, version))),
            Step::Spoil { file } => self.write(&name(file), None),
            Step::Delete { file } => {
                drop(std::fs::remove_file(self.world.path(&name(file))));
                self.model.on_disk.remove(&name(file));
                self.model.changed.insert(name(file));
            }
            Step::Rename { from, to } => self.rename(&name(from), &name(to)),
            Step::Ingest { size } => self.ingest(size),
            Step::CancelledIngest { after } => self.ingest_cancelled(after),
            Step::IngestChanges => self.ingest_changes(),
            Step::KilledIngest { millis } => self.ingest_killed(millis),
            Step::SecondInstance => self.open_twice(),
            Step::Remove { file } => self.remove(&name(file)),
            Step::Reopen => {
                self.library = None;
                self.library = Some(self.world.open());
            }
        }
        assert_searchable_is_ready(self.library(), "strata");
    }

    /// `None` stands for a file that gives no text.
    fn write(&mut self, name: &str, text: Option<String>) {
        self.world.write(name, text.as_deref().unwrap_or(" \n"));
        self.model.on_disk.insert(name.to_owned(), text);
        self.model.changed.insert(name.to_owned());
    }

    fn rename(&mut self, from: &str, to: &str) {
        if from != to && std::fs::rename(self.world.path(from), self.world.path(to)).is_ok() {
            let text = self.model.on_disk.remove(from).unwrap();
            self.model.on_disk.insert(to.to_owned(), text);
            self.model.changed.extend([from.to_owned(), to.to_owned()]);
        }
    }

    fn ingest(&mut self, size: usize) {
        ingest_with(self.library(), &[self.world.documents()], &chunks_of(size));
        self.model.held = self.held();
        assert_eq!(self.model.held, self.readable(), "after a complete ingest");
        self.model.changed.clear();
    }

    /// What is readable on disk, by name.
    fn readable(&self) -> BTreeMap<String, String> {
        let files = self.model.on_disk.iter();
        files.filter_map(|(name, text)| Some((name.clone(), text.clone()?))).collect()
    }

    fn ingest_changes(&mut self) {
        let paths = self.model.changed.iter().map(|name| self.world.path(name)).collect();
        let changes = Changes { paths, is_incomplete: false };
        let folders = [self.world.documents()];
        self.library().ingest_changes(&folders, &changes, &chunks_of(60), &|_| {}, &CancelToken::new()).unwrap();
        self.model.held = self.held();
        let readable = self.readable();
        for name in std::mem::take(&mut self.model.changed) {
            assert_eq!(self.model.held.get(&name), readable.get(&name), "{name} after its change was read");
        }
    }

    fn ingest_killed(&mut self, millis: u64) {
        self.library = None;
        let mut child = start_ingest(&self.world, 60);
        std::thread::sleep(Duration::from_millis(millis));
        drop(child.kill());
        child.wait().unwrap();
        self.library = Some(open_for_writing(&self.world));
        self.take_partial();
    }

    /// After an ingest that did not end, each document holds its earlier or its later text.
    fn take_partial(&mut self) {
        let held = self.held();
        for (name, text) in &held {
            let is_old = self.model.held.values().any(|old| old == text);
            let is_new = self.model.on_disk.get(name).is_some_and(|new| new.as_ref() == Some(text));
            assert!(is_old || is_new, "{name} holds neither its earlier nor its later text");
        }
        let names = held.keys().chain(self.model.held.keys()).chain(self.model.on_disk.keys());
        let differing = names.filter(|name| held.get(*name) != self.readable().get(*name)).cloned();
        let differing: Vec<String> = differing.collect();
        self.model.changed.extend(differing);
        self.model.held = held;
    }

    fn open_twice(&self) {
        let second = self.world.open();
        assert!(second.is_read_only());
        assert_searchable_is_ready(&second, "strata");
        let refused = second.ingest(&[self.world.documents()], &chunks_of(60), &|_| {}, &CancelToken::new());
        assert_eq!(refused.unwrap_err().title, "Read-only library");
    }

    fn ingest_cancelled(&mut self, after: usize) {
        let (cancel, calls) = (CancelToken::new(), AtomicUsize::new(0));
        let on_progress = |_: &outcrop::progress::IngestProgress| {
            if calls.fetch_add(1, Ordering::Relaxed) + 1 == after {
                cancel.cancel();
            }
        };
        self.library().ingest(&[self.world.documents()], &chunks_of(60), &on_progress, &cancel).unwrap();
        self.take_partial();
    }

    fn remove(&mut self, name: &str) {
        let documents = self.library().documents().unwrap();
        let ids: Vec<_> =
            documents.iter().filter(|document| name_of(&document.path) == name).map(|document| document.id).collect();
        assert_eq!(self.library().remove(&ids).unwrap(), ids.len());
        self.model.held.remove(name);
        self.model.changed.insert(name.to_owned());
        assert_eq!(self.held(), self.model.held);
    }

    /// Texts of the ready documents, by name.
    fn held(&self) -> BTreeMap<String, String> {
        let documents = self.library().documents().unwrap();
        documents
            .into_iter()
            .filter(|document| document.status == DocumentStatus::Ready)
            .map(|document| (name_of(&document.path), self.library().extraction(document.id).unwrap().text))
            .collect()
    }
}

fn sequences() -> u32 {
    std::env::var("OUTCROP_SEQUENCES").ok().and_then(|number| number.parse().ok()).unwrap_or(SEQUENCES)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: sequences(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn searchable_is_ready_after_every_step(steps in prop::collection::vec(step(), 1..24)) {
        let mut run = Run::new();
        for step in &steps {
            run.apply(step);
        }
        run.apply(&Step::Reopen);
        run.apply(&Step::Ingest { size: 60 });
    }
}
