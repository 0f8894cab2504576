//! Repairing what a check of the library found: derived data is made anew from the stored text, damaged text is
//! given up with its reason.

use std::path::Path;

use super::embedding::{EmbedFailure, embed_cached};
use super::passage;
use crate::embed::{EmbedError, Embedder};
use crate::extract::Extraction;
use crate::progress::CancelToken;
use crate::store::{
    ChunkId, ChunkRecord, ChunkingKey, DocumentId, DocumentRecord, DocumentStatus, Findings, NewChunk, ReadyDocument,
    Store, StoreError, Unready, VerifyReport,
};

const LOST: &str = "its stored text was damaged; add the file again";

/// Checks the library and, where `repair` is set, repairs it.
pub(crate) fn repair(store: &Store, embedder: &dyn Embedder, repair: bool) -> Result<VerifyReport, EmbedFailure> {
    let findings = store.check()?;
    let mut report = findings.report.clone();
    if !repair || report.problems.is_empty() {
        return Ok(report);
    }
    store.expect_writable()?;
    mend(store, embedder, findings)?;
    let left = store.check()?.report;
    for problem in &mut report.problems {
        let is_left = left.problems.iter().any(|other| {
            other.file == problem.file && other.document == problem.document && other.detail == problem.detail
        });
        problem.repaired = !is_left;
    }
    Ok(VerifyReport { problems: report.problems, ..left })
}

fn mend(store: &Store, embedder: &dyn Embedder, findings: Findings) -> Result<(), EmbedFailure> {
    store.forget_damaged(&findings)?;
    for &id in &findings.lost {
        store.make_unready(id, Unready::new(DocumentStatus::Failed, LOST))?;
    }
    let mut documents = store.documents()?;
    documents.retain(|document| document.status == DocumentStatus::Ready);
    if findings.is_index_broken {
        store.refill_keywords(documents.iter().flat_map(|document| passages(store, document)))?;
    }
    for document in documents.iter().filter(|document| findings.to_index.contains(&document.id)) {
        index_anew(store, embedder, document)?;
    }
    Ok(())
}

/// What the keyword index holds of a document.
fn passages(store: &Store, document: &DocumentRecord) -> Vec<Result<(ChunkId, String), StoreError>> {
    let read = || -> Result<Vec<(ChunkId, String)>, StoreError> {
        let Some(key) = store.active_key(document.id)? else {
            return Ok(Vec::new());
        };
        let extraction = store.extraction(document.id)?;
        let of_chunk = |chunk: ChunkRecord| {
            let id = chunk.id;
            (id, new_chunk(&extraction, &document.path, key.context, chunk).passage)
        };
        Ok(store.chunks(document.id)?.into_iter().map(of_chunk).collect())
    };
    read().map_or_else(|err| vec![Err(err)], |passages| passages.into_iter().map(Ok).collect())
}

/// Gives a document new rows and index entries for the chunks it has.
fn index_anew(store: &Store, embedder: &dyn Embedder, document: &DocumentRecord) -> Result<(), EmbedFailure> {
    let id = document.id;
    let (Some(key), Some(known)) = (store.active_key(id)?, store.document_at(&document.path)?) else {
        return Ok(());
    };
    let extraction = store.extraction(id)?;
    let chunks: Vec<NewChunk> =
        store.chunks(id)?.into_iter().map(|chunk| new_chunk(&extraction, &document.path, key.context, chunk)).collect();
    let passages: Vec<&str> = chunks.iter().map(|chunk| chunk.passage.as_str()).collect();
    let vectors = embed_cached(store, embedder, &passages, &CancelToken::new(), &mut |_| {});
    let vectors = match vectors {
        Err(EmbedFailure::Embed(EmbedError::Run(detail))) => return give_up(store, id, &detail),
        other => other?,
    };
    store.make_ready(ReadyDocument {
        id,
        bytes: document.bytes,
        hash: known.hash.unwrap_or_default(),
        extraction: &extraction,
        read: &document.read,
        title: document.title.clone(),
        key: ChunkingKey { fingerprint: embedder.fingerprint().to_owned(), ..key },
        embedder: embedder.name(),
        dims: embedder.dims(),
        chunks,
        vectors: &vectors,
    })?;
    Ok(())
}

fn give_up(store: &Store, id: DocumentId, detail: &str) -> Result<(), EmbedFailure> {
    let reason = format!("its vectors were damaged and could not be made anew: {detail}");
    store.make_unready(id, Unready::new(DocumentStatus::Failed, &reason))?;
    Ok(())
}

fn new_chunk(extraction: &Extraction, path: &Path, has_context: bool, chunk: ChunkRecord) -> NewChunk {
    let passage = if has_context {
        let context = passage::document_context(extraction, path);
        passage::with_context(&context, &chunk.place, &chunk.text)
    } else {
        chunk.text.clone()
    };
    NewChunk {
        start: chunk.start,
        end: chunk.end,
        tokens: chunk.tokens,
        left_similarity: chunk.left_similarity,
        right_similarity: chunk.right_similarity,
        place: chunk.place,
        passage,
    }
}
