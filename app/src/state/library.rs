//! The documents and the ingest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::{FolderState, Loadable};
use crate::ingest::IngestReport;
use crate::progress::IngestProgress;
use crate::store::{DocumentId, DocumentRecord, DocumentStatus};

/// What the table is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortKey {
    /// Title.
    #[default]
    Title,
    /// Status.
    Status,
    /// Pages.
    Pages,
    /// Chunks.
    Chunks,
    /// Size of the file.
    Size,
    /// Chunker.
    Chunker,
}

/// Which documents are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatusFilter {
    /// All.
    #[default]
    All,
    /// Searchable ones.
    Ready,
    /// Those that need somebody's attention.
    Problems,
}

/// The library space.
#[derive(Clone, Debug, Default)]
pub struct LibraryState {
    /// Every document, by id.
    pub documents: Loadable<Vec<DocumentRecord>>,
    /// The running ingest.
    pub ingest: Option<IngestProgress>,
    /// Ingests waiting after the running one.
    pub queued: usize,
    /// Whether the running ingest was asked to stop.
    pub cancelling: bool,
    /// Whether the running ingest stands still.
    pub paused: bool,
    /// Counts up with every ingest that ended: texts may be others.
    pub version: u64,
    /// What became of the last one.
    pub last_report: Option<IngestReport>,
    /// How the followed folders were when they were looked at last.
    pub folders: BTreeMap<PathBuf, FolderState>,
    /// Selected rows.
    pub selected: BTreeSet<DocumentId>,
    /// Text that titles and paths must hold.
    pub filter: String,
    /// Which states are listed.
    pub status_filter: StatusFilter,
    /// Sort column.
    pub sort: SortKey,
    /// Sort from high to low.
    pub descending: bool,
    /// Places of the listed documents, in the order of the table: sorting ten thousand of them takes longer than a
    /// frame, so it is done once for each change, by [`LibraryState::arrange`].
    order: Vec<usize>,
}

impl LibraryState {
    /// The document with this id.
    pub fn document(&self, id: DocumentId) -> Option<&DocumentRecord> {
        self.documents.value()?.iter().find(|record| record.id == id)
    }

    /// The documents to list, filtered and sorted as they were when [`LibraryState::arrange`] was called last.
    pub fn listed(&self) -> Vec<&DocumentRecord> {
        let documents = self.documents.value().map(Vec::as_slice).unwrap_or_default();
        self.order.iter().filter_map(|place| documents.get(*place)).collect()
    }

    /// Filters and sorts anew; to be called when the documents, the filter or the sort order have changed.
    pub fn arrange(&mut self) {
        let needle = self.filter.trim().to_lowercase();
        let documents = self.documents.value().map(Vec::as_slice).unwrap_or_default();
        let wanted = |record: &DocumentRecord| self.passes(record) && holds(record, &needle);
        let mut order: Vec<usize> = (0..documents.len()).filter(|place| wanted(&documents[*place])).collect();
        if self.sort == SortKey::Title {
            order.sort_by_cached_key(|place| (documents[*place].title.to_lowercase(), documents[*place].id));
            if self.descending {
                order.reverse();
            }
        } else {
            order.sort_by(|one, other| self.compare(&documents[*one], &documents[*other]));
        }
        self.order = order;
    }

    /// Searchable documents and their chunks.
    pub fn totals(&self) -> (usize, usize) {
        let documents = self.documents.value().map(Vec::as_slice).unwrap_or_default();
        let ready = documents.iter().filter(|record| record.status == DocumentStatus::Ready);
        ready.fold((0, 0), |(files, chunks), record| (files + 1, chunks + record.chunks))
    }

    fn passes(&self, record: &DocumentRecord) -> bool {
        match self.status_filter {
            StatusFilter::All => true,
            StatusFilter::Ready => record.status == DocumentStatus::Ready,
            StatusFilter::Problems => is_problem(record),
        }
    }

    fn compare(&self, one: &DocumentRecord, other: &DocumentRecord) -> std::cmp::Ordering {
        let order = match self.sort {
            SortKey::Title => one.title.cmp(&other.title),
            SortKey::Status => (one.status as u8).cmp(&(other.status as u8)),
            SortKey::Pages => one.pages.cmp(&other.pages),
            SortKey::Chunks => one.chunks.cmp(&other.chunks),
            SortKey::Size => one.bytes.cmp(&other.bytes),
            SortKey::Chunker => chunker_name(one).cmp(&chunker_name(other)),
        };
        let order = if self.descending { order.reverse() } else { order };
        order.then(one.id.cmp(&other.id))
    }
}

fn is_problem(record: &DocumentRecord) -> bool {
    use DocumentStatus::{Encrypted, Failed, NeedsOcr};
    matches!(record.status, Failed | NeedsOcr | Encrypted) || !record.pages_without_text.is_empty()
}

fn holds(record: &DocumentRecord, needle: &str) -> bool {
    needle.is_empty()
        || record.title.to_lowercase().contains(needle)
        || record.path.to_string_lossy().to_lowercase().contains(needle)
}

fn chunker_name(record: &DocumentRecord) -> Option<String> {
    record.chunker.as_ref().map(|config| format!("{:?} {:08}", config.kind, config.size))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: u64, title: &str, status: DocumentStatus, chunks: usize) -> DocumentRecord {
        DocumentRecord {
            id: DocumentId(id),
            path: format!("/notes/{title}").into(),
            title: title.to_owned(),
            status,
            reason: None,
            kind: None,
            pages: None,
            pages_without_text: Vec::new(),
            chunks,
            bytes: 10,
            read: crate::extract::ReadOptions::default(),
            chunker: None,
            embedder: None,
            metadata: None,
        }
    }

    fn state() -> LibraryState {
        LibraryState {
            documents: Loadable::Ready(vec![
                record(1, "b.md", DocumentStatus::Ready, 3),
                record(2, "A.pdf", DocumentStatus::Failed, 0),
                record(3, "c.txt", DocumentStatus::Ready, 9),
            ]),
            ..LibraryState::default()
        }
    }

    fn ids(state: &mut LibraryState) -> Vec<u64> {
        state.arrange();
        state.listed().iter().map(|record| record.id.0).collect()
    }

    #[test]
    fn sorts_and_filters() {
        let mut state = state();
        assert_eq!(ids(&mut state), [2, 1, 3]);
        (state.sort, state.descending) = (SortKey::Chunks, true);
        assert_eq!(ids(&mut state), [3, 1, 2]);
        state.status_filter = StatusFilter::Problems;
        assert_eq!(ids(&mut state), [2]);
        (state.status_filter, state.filter) = (StatusFilter::All, " B.M ".to_owned());
        assert_eq!(ids(&mut state), [1]);
    }

    #[test]
    fn totals_count_searchable_documents_only() {
        assert_eq!(state().totals(), (2, 12));
    }
}
