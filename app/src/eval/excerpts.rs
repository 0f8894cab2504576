//! Questions with the excerpts of a text that answer them: `corpora/<id>.md` and `questions_df.csv`.

use std::fs;
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::EvalError;
use super::ranges::CodePoints;

/// A labelled set for chunkers.
#[derive(Clone, Debug, Default)]
pub struct ExcerptSet {
    /// Texts, in order of their ids.
    pub corpora: Vec<Corpus>,
    /// Questions in the file's order.
    pub questions: Vec<ExcerptQuestion>,
}

/// One text.
#[derive(Clone, Debug)]
pub struct Corpus {
    /// Its file's name without the ending.
    pub id: String,
    /// Its text.
    pub text: String,
}

/// A question and what answers it.
#[derive(Clone, Debug)]
pub struct ExcerptQuestion {
    /// The question.
    pub text: String,
    /// Index of the corpus.
    pub corpus: usize,
    /// The excerpts as ranges of code points.
    pub references: Vec<Range<usize>>,
}

#[derive(Deserialize, Serialize)]
struct Row {
    question: String,
    references: String,
    corpus_id: String,
}

#[derive(Deserialize, Serialize)]
struct Reference {
    content: String,
    start_index: usize,
    end_index: usize,
}

impl ExcerptSet {
    /// Reads a folder and checks every excerpt against its text.
    ///
    /// # Errors
    /// A file is missing or damaged, or an excerpt is not where it is said to be.
    pub fn load(folder: &Path) -> Result<Self, EvalError> {
        let corpora = load_corpora(&folder.join("corpora"))?;
        let points: Vec<CodePoints> = corpora.iter().map(|corpus| CodePoints::new(&corpus.text)).collect();
        let path = folder.join("questions_df.csv");
        let mut reader = csv::Reader::from_path(&path).map_err(|err| EvalError::data(&path, err.to_string()))?;
        let mut questions = Vec::new();
        for row in reader.deserialize() {
            let row: Row = row.map_err(|err| EvalError::data(&path, err.to_string()))?;
            let question = read_question(&row, &corpora, &points);
            questions.push(question.map_err(|detail| EvalError::data(&path, detail))?);
        }
        Ok(Self { corpora, questions })
    }
}

impl ExcerptSet {
    /// Writes the set into a folder, in the form that [`ExcerptSet::load`] reads.
    ///
    /// # Errors
    /// A file cannot be written, or an excerpt lies outside its text.
    pub fn save(&self, folder: &Path) -> Result<(), EvalError> {
        let corpora = folder.join("corpora");
        fs::create_dir_all(&corpora).map_err(|err| EvalError::data(&corpora, err.to_string()))?;
        for Corpus { id, text } in &self.corpora {
            let path = corpora.join(format!("{id}.md"));
            fs::write(&path, text).map_err(|err| EvalError::data(&path, err.to_string()))?;
        }
        let path = folder.join("questions_df.csv");
        let mut writer = csv::Writer::from_path(&path).map_err(|err| EvalError::data(&path, err.to_string()))?;
        for question in &self.questions {
            let row = self.row(question).ok_or_else(|| {
                EvalError::data(&path, format!("an excerpt of {:?} lies outside its text", question.text))
            })?;
            writer.serialize(row).map_err(|err| EvalError::data(&path, err.to_string()))?;
        }
        writer.flush().map_err(|err| EvalError::data(&path, err.to_string()))
    }

    fn row(&self, question: &ExcerptQuestion) -> Option<Row> {
        let corpus = self.corpora.get(question.corpus)?;
        let points = CodePoints::new(&corpus.text);
        let reference = |range: &Range<usize>| {
            let content = corpus.text.get(points.bytes(range, corpus.text.len())?)?;
            Some(Reference { content: content.to_owned(), start_index: range.start, end_index: range.end })
        };
        let references = question.references.iter().map(reference).collect::<Option<Vec<_>>>()?;
        let references = serde_json::to_string(&references).ok()?;
        Some(Row { question: question.text.clone(), references, corpus_id: corpus.id.clone() })
    }
}

fn load_corpora(folder: &Path) -> Result<Vec<Corpus>, EvalError> {
    let unreadable = |err: std::io::Error| EvalError::data(folder, err.to_string());
    let mut corpora = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text = fs::read_to_string(&path).map_err(|err| EvalError::data(&path, err.to_string()))?;
        let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        corpora.push(Corpus { id, text });
    }
    corpora.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(corpora)
}

fn read_question(row: &Row, corpora: &[Corpus], points: &[CodePoints]) -> Result<ExcerptQuestion, String> {
    let corpus = corpora.iter().position(|corpus| corpus.id == row.corpus_id);
    let corpus = corpus.ok_or_else(|| format!("no corpus {:?} for {:?}", row.corpus_id, row.question))?;
    let references: Vec<Reference> = serde_json::from_str(&row.references)
        .map_err(|err| format!("the references of {:?} are no JSON array: {err}", row.question))?;
    let mut ranges = Vec::with_capacity(references.len());
    for Reference { content, start_index, end_index } in references {
        let text = &corpora[corpus].text;
        let range = start_index..end_index;
        let found = points[corpus].bytes(&range, text.len()).and_then(|bytes| text.get(bytes));
        if found != Some(content.as_str()) {
            return Err(format!("characters {start_index} to {end_index} of {:?} are not {content:?}", row.corpus_id));
        }
        ranges.push(range);
    }
    Ok(ExcerptQuestion { text: row.question.clone(), corpus, references: ranges })
}
