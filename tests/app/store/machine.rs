//! The invariant as a state machine: whatever is done to a library, its searchable set is its ready documents.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use outcrop::store::DocumentStatus;
use outcrop::{CancelToken, Library};
use proptest::prelude::*;

use super::fixture::{World, assert_searchable_is_ready, chunks_of, ingest_with, name_of};

const FILES: usize = 4;

#[derive(Clone, Debug)]
enum Step {
    Write { file: usize, version: usize },
    Spoil { file: usize },
    Delete { file: usize },
    Rename { from: usize, to: usize },
    Ingest { size: usize },
    CancelledIngest { after: usize },
    Remove { file: usize },
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
        1 => Just(Step::Reopen),
    ]
}

fn name(file: usize) -> String {
    format!("f{file}.txt")
}

/// Paragraphs that all hold the word `strata`; versions differ in words and length, some are shared by all files.
fn text(file: usize, version: usize) -> String {
    let file = if version == 0 { 0 } else { file };
    (0..=(version * 2)).map(|line| format!("Line {line} of text {file} holds strata, version {version}.\n\n")).collect()
}

/// What the library must hold after a complete ingest: the text of each readable file, by name.
#[derive(Default)]
struct Model {
    on_disk: BTreeMap<String, Option<String>>,
    held: BTreeMap<String, String>,
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
            }
            Step::Rename { from, to } => self.rename(&name(from), &name(to)),
            Step::Ingest { size } => self.ingest(size),
            Step::CancelledIngest { after } => self.ingest_cancelled(after),
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
    }

    fn rename(&mut self, from: &str, to: &str) {
        if from != to && std::fs::rename(self.world.path(from), self.world.path(to)).is_ok() {
            let text = self.model.on_disk.remove(from).unwrap();
            self.model.on_disk.insert(to.to_owned(), text);
        }
    }

    fn ingest(&mut self, size: usize) {
        ingest_with(self.library(), &[self.world.documents()], &chunks_of(size));
        let held = self.held();
        for (name, text) in &self.model.on_disk {
            assert_eq!(held.get(name), text.as_ref(), "{name} after a complete ingest");
        }
        self.model.held = held;
    }

    fn ingest_cancelled(&mut self, after: usize) {
        let (cancel, calls) = (CancelToken::new(), AtomicUsize::new(0));
        let on_progress = |_: &outcrop::progress::IngestProgress| {
            if calls.fetch_add(1, Ordering::Relaxed) + 1 == after {
                cancel.cancel();
            }
        };
        self.library().ingest(&[self.world.documents()], &chunks_of(60), &on_progress, &cancel).unwrap();
        let held = self.held();
        for (name, text) in &held {
            let is_old = self.model.held.values().any(|old| old == text);
            let is_new = self.model.on_disk.get(name).is_some_and(|new| new.as_ref() == Some(text));
            assert!(is_old || is_new, "{name} holds neither its earlier nor its later text");
        }
        self.model.held = held;
    }

    fn remove(&mut self, name: &str) {
        let documents = self.library().documents().unwrap();
        let ids: Vec<_> =
            documents.iter().filter(|document| name_of(&document.path) == name).map(|document| document.id).collect();
        assert_eq!(self.library().remove(&ids).unwrap(), ids.len());
        self.model.held.remove(name);
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

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
