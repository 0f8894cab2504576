//! What the inspector shows.

use std::path::PathBuf;

use crate::answer::{Citation, FoundPassage};
use crate::extract::Place;
use crate::retrieve::{HitScores, Near, SearchHit};
use crate::store::{ChunkRecord, DocumentId};

/// A passage with where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Passage {
    /// Its document.
    pub document: DocumentId,
    /// The document's title.
    pub title: String,
    /// The document's path.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// Where it stands.
    pub place: Place,
    /// First byte in the document's text.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// Position among the document's chunks, from 0.
    pub index: Option<usize>,
    /// Tokens of the embedder.
    pub tokens: Option<usize>,
    /// The score that ranked it.
    pub score: Option<f32>,
    /// All scores by name.
    pub scores: HitScores,
    /// Words to mark in its text.
    pub query: String,
}

/// What is selected.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Selection {
    /// Nothing: the inspector is hidden.
    #[default]
    Nothing,
    /// A document of the library.
    Document(DocumentId),
    /// A hit, a citation or a chunk.
    Passage(Box<Passage>),
}

impl Passage {
    /// The passage of a hit.
    pub fn of_hit(hit: &SearchHit, query: &str) -> Self {
        Self {
            score: Some(hit.score),
            scores: hit.scores,
            query: query.to_owned(),
            ..Self::of_chunk(&hit.chunk, hit.title.clone(), hit.path.clone())
        }
    }

    /// The passage of a candidate that may be no hit.
    pub fn of_near(near: &Near, query: &str) -> Self {
        Self {
            scores: near.considered.scores,
            query: query.to_owned(),
            ..Self::of_chunk(&near.chunk, near.title.clone(), near.path.clone())
        }
    }

    /// The passage of a stored chunk.
    pub fn of_chunk(chunk: &ChunkRecord, title: String, path: PathBuf) -> Self {
        Self {
            document: chunk.document,
            title,
            path,
            text: chunk.text.clone(),
            place: chunk.place.clone(),
            start: chunk.start,
            end: chunk.end,
            index: Some(chunk.index),
            tokens: Some(chunk.tokens),
            score: None,
            scores: HitScores::default(),
            query: String::new(),
        }
    }

    /// A passage that was found for an answer.
    pub fn of_found(found: &FoundPassage, question: &str) -> Self {
        Self {
            document: found.document,
            title: found.title.clone(),
            path: found.path.clone(),
            text: found.text.clone(),
            place: found.place.clone(),
            start: found.start,
            end: found.end,
            index: None,
            tokens: None,
            score: found.score,
            scores: found.scores,
            query: question.to_owned(),
        }
    }

    /// The passage that an answer cites.
    pub fn of_citation(citation: &Citation, question: &str) -> Self {
        let name = citation.path.file_name().unwrap_or(citation.path.as_os_str());
        Self {
            document: citation.document,
            title: name.to_string_lossy().into_owned(),
            path: citation.path.clone(),
            text: citation.quote.clone(),
            place: Place {
                pages: citation.pages,
                heading: citation.heading.clone(),
                rows: citation.rows,
                lines: citation.lines,
            },
            start: citation.start,
            end: citation.end,
            index: None,
            tokens: None,
            score: Some(citation.score),
            scores: HitScores::default(),
            query: question.to_owned(),
        }
    }
}
