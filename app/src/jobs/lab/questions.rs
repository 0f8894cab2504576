//! Questions on a document: kept in the library's folder as a labelled set that `outcrop eval chunking` reads, and
//! asked of every chunker that is compared.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::Bench;
use crate::chunk::Chunk;
use crate::embed::TextRole;
use crate::eval::ExcerptSet;
use crate::eval::bootstrap::{difference_interval, mean};
use crate::eval::chunking::{ChunkScores, score};
use crate::eval::excerpts::{Corpus, ExcerptQuestion};
use crate::eval::ranges::CodePoints;
use crate::library::{Error, Library};
use crate::progress::CancelToken;
use crate::retrieve::{MemoryCollection, Question, SearchOptions, rank};
use crate::state::{LabelledQuestion, QuestionScores};
use crate::store::DocumentId;

/// Chunks that are retrieved for a question, as in the published comparison.
const RETRIEVED_CHUNKS: usize = 5;

/// Where the questions of a document are kept.
pub(super) fn folder(library: &Library, document: DocumentId) -> PathBuf {
    library.paths().folder().join("questions").join(document.0.to_string())
}

/// The questions kept for a document; none where its text is not the one that they were written on.
pub(super) fn load(folder: &Path, text: &str) -> Vec<LabelledQuestion> {
    let Ok(set) = ExcerptSet::load(folder) else { return Vec::new() };
    let points = CodePoints::new(text);
    let bytes = |range: &Range<usize>| points.bytes(range, text.len());
    let is_same = set.corpora.first().is_some_and(|corpus| corpus.text == text);
    let question = |question: ExcerptQuestion| {
        let Range { start, end } = bytes(question.references.first()?)?;
        Some(LabelledQuestion { text: question.text, start, end })
    };
    if is_same { set.questions.into_iter().filter_map(question).collect() } else { Vec::new() }
}

/// Keeps questions; takes the folder away when there are none.
pub(super) fn save(folder: &Path, text: &str, questions: &[LabelledQuestion]) -> Result<(), Error> {
    let failed = |err: String| Error::new("The questions could not be kept", err);
    if questions.is_empty() {
        return match std::fs::remove_dir_all(folder) {
            Err(err) if err.kind() != std::io::ErrorKind::NotFound => Err(failed(err.to_string())),
            _ => Ok(()),
        };
    }
    let points = CodePoints::new(text);
    let set = ExcerptSet {
        corpora: vec![Corpus { id: "document".to_owned(), text: text.to_owned() }],
        questions: questions
            .iter()
            .map(|question| ExcerptQuestion {
                text: question.text.clone(),
                corpus: 0,
                references: vec![points.range(&(question.start..question.end))],
            })
            .collect(),
    };
    set.save(folder).map_err(|err| failed(err.to_string()))
}

impl Bench {
    /// Scores of each question with these chunks.
    pub(super) fn ask(
        &self,
        text: &str,
        chunks: &[Chunk],
        questions: &[LabelledQuestion],
        cancel: &CancelToken,
    ) -> Result<Vec<ChunkScores>, Error> {
        let embedder = self.library.embedder();
        let failed = |err: &dyn std::fmt::Display| Error::new("The questions could not be asked", err.to_string());
        let passages: Vec<&str> =
            chunks.iter().map(|chunk| text.get(chunk.start..chunk.end).unwrap_or_default()).collect();
        let vectors = self.library.embed_cached(&passages, cancel, &mut |_| {})?;
        let collection = MemoryCollection::new(&passages, &vectors, embedder.dims()).map_err(|err| failed(&err))?;
        let texts: Vec<&str> = questions.iter().map(|question| question.text.as_str()).collect();
        let asked = embedder.embed(&texts, TextRole::Query, cancel, &mut |_| {}).map_err(|err| failed(&err))?;
        let options = SearchOptions { k: RETRIEVED_CHUNKS, ..SearchOptions::default() };
        let mut scores = Vec::with_capacity(questions.len());
        for (question, vector) in questions.iter().zip(asked.chunks(embedder.dims().max(1))) {
            let ranking = rank(&collection, Question { text: &question.text, vector: Some(vector) }, &options);
            let ranking = ranking.map_err(|err| failed(&err))?;
            let found = ranking.passages.iter().filter_map(|found| chunks.get(found.id as usize));
            let found: Vec<Range<usize>> = found.map(|chunk| chunk.start..chunk.end).collect();
            let wanted = question.start..question.end;
            scores.push(score(&found, std::slice::from_ref(&wanted)));
        }
        Ok(scores)
    }
}

/// Sums up the scores of one column beside those of the first.
pub(super) fn summed(scores: &[ChunkScores], first: &[ChunkScores]) -> QuestionScores {
    let values = |scores: &[ChunkScores], value: fn(&ChunkScores) -> f64| scores.iter().map(value).collect::<Vec<_>>();
    let over = |value: fn(&ChunkScores) -> f64| difference_interval(&values(scores, value), &values(first, value));
    QuestionScores {
        recall: mean(&values(scores, |scores| scores.recall)),
        iou: mean(&values(scores, |scores| scores.iou)),
        recall_over_first: over(|scores| scores.recall),
        iou_over_first: over(|scores| scores.iou),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_come_back_on_the_same_text_alone() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("questions");
        let text = "Die Säge liegt dort. The saw lies there.";
        let start = text.find("The saw").unwrap();
        let questions = vec![LabelledQuestion { text: "Where is \"the saw\"?".to_owned(), start, end: text.len() }];
        save(&folder, text, &questions).unwrap();
        assert_eq!(load(&folder, text), questions);
        assert!(load(&folder, "another text").is_empty());
        save(&folder, text, &[]).unwrap();
        assert!(!folder.exists() && load(&folder, text).is_empty());
    }
}
