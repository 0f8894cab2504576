//! Questions with the documents that answer them: `docs.jsonl`, `queries.jsonl`, `qrels.tsv`.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::EvalError;

/// A labelled set for retrieval. Questions without a relevant document are left out.
#[derive(Clone, Debug, Default)]
pub struct JudgedSet {
    /// Documents in the file's order.
    pub documents: Vec<JudgedDocument>,
    /// Questions in the file's order.
    pub questions: Vec<JudgedQuestion>,
}

/// A document.
#[derive(Clone, Debug, Deserialize)]
pub struct JudgedDocument {
    /// Its id.
    pub id: String,
    /// Its title, often empty.
    #[serde(default)]
    pub title: String,
    /// Its text.
    pub text: String,
}

impl JudgedDocument {
    /// What is embedded and indexed: the text, under its title where it does not start with it anyway.
    pub fn titled_text(&self) -> String {
        let title = self.title.trim();
        if self.text.trim_start().starts_with(title) { self.text.clone() } else { format!("{title}\n{}", self.text) }
    }
}

/// A question with what is relevant.
#[derive(Clone, Debug)]
pub struct JudgedQuestion {
    /// Its id.
    pub id: String,
    /// The question.
    pub text: String,
    /// Reference answers, where the set has them.
    pub answers: Vec<String>,
    /// Gain of each relevant document, by its index.
    pub gains: BTreeMap<usize, f64>,
}

impl JudgedQuestion {
    /// A question that nothing in the documents answers.
    pub fn unanswered(text: &str) -> Self {
        Self { id: String::new(), text: text.to_owned(), answers: Vec::new(), gains: BTreeMap::new() }
    }
}

#[derive(Deserialize)]
struct Query {
    id: String,
    text: String,
    #[serde(default)]
    answers: Vec<String>,
}

#[derive(Deserialize)]
struct Judgement {
    #[serde(rename = "query-id")]
    query: String,
    #[serde(rename = "corpus-id")]
    document: String,
    score: f64,
}

impl JudgedSet {
    /// Reads a folder.
    ///
    /// # Errors
    /// A file is missing or damaged, or a judgement names a document that is not there.
    pub fn load(folder: &Path) -> Result<Self, EvalError> {
        let documents: Vec<JudgedDocument> = read_lines(&folder.join("docs.jsonl"))?;
        let queries: Vec<Query> = read_lines(&folder.join("queries.jsonl"))?;
        let mut gains = read_judgements(&folder.join("qrels.tsv"), &documents)?;
        let judged = queries.into_iter().filter_map(|Query { id, text, answers }| {
            let gains = gains.remove(&id)?;
            Some(JudgedQuestion { id, text, answers, gains })
        });
        let questions: Vec<JudgedQuestion> = judged.collect();
        if questions.is_empty() {
            let detail = "none of its questions is in queries.jsonl with a score above 0".to_owned();
            return Err(EvalError::data(&folder.join("qrels.tsv"), detail));
        }
        Ok(Self { documents, questions })
    }
}

impl JudgedSet {
    /// Keeps at most `most` questions, spread evenly over the set.
    pub fn thin_out(&mut self, most: usize) {
        if most > 0 {
            self.questions = spread(std::mem::take(&mut self.questions), most);
        }
    }
}

/// At most `most` of `all`, spread over them.
pub(super) fn spread<T>(all: Vec<T>, most: usize) -> Vec<T> {
    let total = all.len();
    let is_next = |index: usize| index * most / total != (index + 1) * most / total;
    let chosen = all.into_iter().enumerate().filter(|(index, _)| most >= total || is_next(*index));
    chosen.map(|(_, one)| one).collect()
}

/// The values of a file of JSON lines.
pub(super) fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, EvalError> {
    let file = File::open(path).map_err(|err| EvalError::data(path, err.to_string()))?;
    let mut values = Vec::new();
    for (index, line) in BufReader::new(file).lines().enumerate() {
        let line = line.map_err(|err| EvalError::data(path, err.to_string()))?;
        if line.trim().is_empty() {
            continue;
        }
        let value = serde_json::from_str(&line);
        values.push(value.map_err(|err| EvalError::data(path, format!("line {}: {err}", index + 1)))?);
    }
    Ok(values)
}

/// The columns of the judgements.
const COLUMNS: [&str; 3] = ["query-id", "corpus-id", "score"];

/// Positive gains by question id.
fn read_judgements(
    path: &Path,
    documents: &[JudgedDocument],
) -> Result<HashMap<String, BTreeMap<usize, f64>>, EvalError> {
    let indices: HashMap<&str, usize> =
        documents.iter().enumerate().map(|(index, document)| (document.id.as_str(), index)).collect();
    let damaged = |err: csv::Error| EvalError::data(path, err.to_string());
    let mut reader = csv::ReaderBuilder::new().delimiter(b'\t').from_path(path).map_err(damaged)?;
    let found = reader.headers().map_err(damaged)?.clone();
    if let Some(missing) = COLUMNS.iter().find(|column| !found.iter().any(|name| name == **column)) {
        let found: Vec<&str> = found.iter().collect();
        let detail = format!("the first line must name the columns {COLUMNS:?}; {missing:?} is not among {found:?}");
        return Err(EvalError::data(path, detail));
    }
    let mut gains: HashMap<String, BTreeMap<usize, f64>> = HashMap::new();
    for judgement in reader.deserialize() {
        let Judgement { query, document, score } = judgement.map_err(damaged)?;
        let index = indices.get(document.as_str());
        let index = index.ok_or_else(|| EvalError::data(path, format!("no document {document:?} for {query:?}")))?;
        if score > 0.0 {
            gains.entry(query).or_default().insert(*index, score);
        }
    }
    Ok(gains)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;

    #[test]
    fn what_is_taken_of_many_is_spread_over_them() {
        assert_eq!(spread((0..10).collect(), 3), [3, 6, 9]);
        assert_eq!(spread(vec![1, 2], 5), [1, 2]);
        assert!(spread(vec![1, 2], 0).is_empty());
    }

    #[test]
    fn a_thinned_out_set_is_spread_over_the_whole() {
        let question = |id: usize| JudgedQuestion {
            id: id.to_string(),
            text: String::new(),
            answers: Vec::new(),
            gains: BTreeMap::new(),
        };
        for (total, most, left) in [(100, 10, 10), (7, 3, 3), (5, 9, 5), (5, 0, 5)] {
            let mut set = JudgedSet { documents: Vec::new(), questions: (0..total).map(question).collect() };
            set.thin_out(most);
            assert_eq!(set.questions.len(), left);
            assert!(set.questions.last().is_some_and(|last| last.id == (total - 1).to_string()));
        }
    }

    #[test]
    fn judgements_that_judge_nothing_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("docs.jsonl", r#"{"id": "d1", "title": "", "text": "Sand."}"#);
        write("queries.jsonl", r#"{"id": "q1", "text": "What?"}"#);
        for (judgements, complaint) in [
            ("q1\td1\t1\n", "must name the columns"),
            ("query-id\tcorpus-id\tscore\nq1\td1\t0\n", "none of its questions"),
            ("query-id\tcorpus-id\tscore\nq2\td1\t1\n", "none of its questions"),
        ] {
            write("qrels.tsv", judgements);
            let err = JudgedSet::load(folder.path()).map(drop).unwrap_err().to_string();
            assert!(err.contains(complaint), "{judgements:?}: {err}");
        }
        write("qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\n");
        assert_eq!(JudgedSet::load(folder.path()).unwrap().questions.len(), 1);
    }

    #[test]
    fn titles_are_not_said_twice() {
        let document = |title: &str, text: &str| {
            JudgedDocument { id: String::new(), title: title.to_owned(), text: text.to_owned() }.titled_text()
        };
        assert_eq!(document("", "Sand."), "Sand.");
        assert_eq!(document("Rivers", "Sand."), "Rivers\nSand.");
        assert_eq!(document("Rivers", "Rivers\n\nSand."), "Rivers\n\nSand.");
    }
}
