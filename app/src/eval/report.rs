//! Results as rows for JSON, CSV and people.

use serde::{Deserialize, Serialize};

use super::bootstrap::{Interval, deviation, difference_interval, mean, mean_interval};
use super::chunking::ChunkScores;
use super::retrieval::RankScores;

/// One chunker on one labelled set. Scores are percentages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChunkingRow {
    /// The chunker's name.
    pub chunker: String,
    /// The chunker with all its options, as `outcrop eval chunking --chunker` reads it.
    pub spec: String,
    /// How chunks were found: `vector`, `keyword` or `hybrid`.
    pub mode: String,
    /// Its cap.
    pub size: usize,
    /// Its overlap.
    pub overlap: usize,
    /// Number of chunks over all corpora.
    pub chunks: usize,
    /// Mean length of a chunk in code points.
    pub mean_chars: f64,
    /// Mean recall.
    pub recall_mean: f64,
    /// Population standard deviation of recall.
    pub recall_sd: f64,
    /// Mean precision.
    pub precision_mean: f64,
    /// Population standard deviation of precision.
    pub precision_sd: f64,
    /// Mean precision-omega.
    pub precision_omega_mean: f64,
    /// Mean `IoU`.
    pub iou_mean: f64,
    /// Population standard deviation of `IoU`.
    pub iou_sd: f64,
    /// Lower and upper end of the 95 % interval of mean recall.
    pub recall_interval: (f64, f64),
    /// The same of mean `IoU`.
    pub iou_interval: (f64, f64),
    /// What this row has over the one that it was compared with, question by question.
    pub against: Option<Difference>,
    /// Scores of every question, in the set's order; not part of the table.
    #[serde(skip)]
    pub scores: Vec<ChunkScores>,
}

/// A row less another one, question by question, in percentage points. An interval without 0 is a real difference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The other row's chunker with its options.
    pub spec: String,
    /// How the other row's chunks were found.
    pub mode: String,
    /// Of recall.
    pub recall: Interval,
    /// Of `IoU`.
    pub iou: Interval,
}

/// What was measured, before its scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChunkingLabel {
    /// The chunker's name.
    pub chunker: String,
    /// The chunker with all its options.
    pub spec: String,
    /// How chunks were found.
    pub mode: String,
    /// Its cap.
    pub size: usize,
    /// Its overlap.
    pub overlap: usize,
    /// Number of chunks over all corpora.
    pub chunks: usize,
    /// Mean length of a chunk in code points.
    pub mean_chars: f64,
}

impl ChunkingRow {
    /// Sums up the scores of all questions.
    pub fn new(label: ChunkingLabel, scores: Vec<ChunkScores>) -> Self {
        let percent = |value: fn(&ChunkScores) -> f64| -> Vec<f64> {
            scores.iter().map(|scores| 100.0 * value(scores)).collect()
        };
        let recall = percent(|scores| scores.recall);
        let precision = percent(|scores| scores.precision);
        let iou = percent(|scores| scores.iou);
        Self {
            chunker: label.chunker,
            spec: label.spec,
            mode: label.mode,
            size: label.size,
            overlap: label.overlap,
            chunks: label.chunks,
            mean_chars: label.mean_chars,
            recall_mean: mean(&recall),
            recall_sd: deviation(&recall),
            precision_mean: mean(&precision),
            precision_sd: deviation(&precision),
            precision_omega_mean: mean(&percent(|scores| scores.precision_omega)),
            iou_mean: mean(&iou),
            iou_sd: deviation(&iou),
            recall_interval: ends(mean_interval(&recall)),
            iou_interval: ends(mean_interval(&iou)),
            against: None,
            scores,
        }
    }

    /// What this row has over `other`, which was measured on the same questions.
    pub fn less(&self, other: &Self) -> Difference {
        let difference = |value: fn(&ChunkScores) -> f64| {
            let percent = |row: &Self| -> Vec<f64> { row.scores.iter().map(|scores| 100.0 * value(scores)).collect() };
            difference_interval(&percent(self), &percent(other))
        };
        Difference {
            spec: other.spec.clone(),
            mode: other.mode.clone(),
            recall: difference(|scores| scores.recall),
            iou: difference(|scores| scores.iou),
        }
    }
}

fn ends(interval: Interval) -> (f64, f64) {
    (interval.low, interval.high)
}

/// One way of retrieval on one labelled set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RetrievalRow {
    /// `vector`, `keyword`, `hybrid`, …
    pub mode: String,
    /// Mean nDCG at 10.
    pub ndcg_10: f64,
    /// Mean recall at 10.
    pub recall_10: f64,
    /// Mean reciprocal rank within 10.
    pub mrr_10: f64,
    /// Number of questions.
    pub queries: usize,
    /// Milliseconds for all of them, embedding not counted.
    pub took_ms: f64,
    /// Lower and upper end of the 95 % interval of mean nDCG.
    pub ndcg_interval: (f64, f64),
}

impl RetrievalRow {
    /// Sums up the scores of all questions.
    pub fn new(mode: String, scores: &[RankScores], took_ms: f64) -> Self {
        let values = |value: fn(&RankScores) -> f64| -> Vec<f64> { scores.iter().map(value).collect() };
        let ndcg = values(|scores| scores.ndcg);
        Self {
            mode,
            ndcg_10: mean(&ndcg),
            recall_10: mean(&values(|scores| scores.recall)),
            mrr_10: mean(&values(|scores| scores.mrr)),
            queries: scores.len(),
            took_ms,
            ndcg_interval: ends(mean_interval(&ndcg)),
        }
    }
}

/// Rows for people, columns aligned.
pub trait Table {
    /// Names of the columns.
    const HEAD: &'static [&'static str];

    /// The cells of one row.
    fn cells(&self) -> Vec<String>;
}

impl Table for ChunkingRow {
    const HEAD: &'static [&'static str] = &[
        "chunker",
        "mode",
        "chunks",
        "mean chars",
        "recall",
        "precision",
        "omega",
        "IoU",
        "recall over first",
        "IoU over first",
    ];

    fn cells(&self) -> Vec<String> {
        let with_ends = |mean: f64, (low, high): (f64, f64)| format!("{mean:.1} [{low:.1}, {high:.1}]");
        let over = |interval: fn(&Difference) -> Interval| {
            let cell = |difference: &Difference| {
                let Interval { mean, low, high } = interval(difference);
                format!("{mean:+.1} [{low:+.1}, {high:+.1}]")
            };
            self.against.as_ref().map_or_else(String::new, cell)
        };
        vec![
            self.spec.clone(),
            self.mode.clone(),
            self.chunks.to_string(),
            format!("{:.0}", self.mean_chars),
            with_ends(self.recall_mean, self.recall_interval),
            format!("{:.1} ± {:.1}", self.precision_mean, self.precision_sd),
            format!("{:.1}", self.precision_omega_mean),
            with_ends(self.iou_mean, self.iou_interval),
            over(|difference| difference.recall),
            over(|difference| difference.iou),
        ]
    }
}

impl Table for RetrievalRow {
    const HEAD: &'static [&'static str] = &["mode", "nDCG@10", "recall@10", "MRR@10", "queries", "ms"];

    fn cells(&self) -> Vec<String> {
        let (low, high) = self.ndcg_interval;
        vec![
            self.mode.clone(),
            format!("{:.3} [{low:.3}, {high:.3}]", self.ndcg_10),
            format!("{:.3}", self.recall_10),
            format!("{:.3}", self.mrr_10),
            self.queries.to_string(),
            format!("{:.0}", self.took_ms),
        ]
    }
}

/// A table in plain text: first column left-aligned, the others right-aligned.
pub fn to_table<R: Table>(rows: &[R]) -> String {
    let head: Vec<String> = R::HEAD.iter().map(|&name| name.to_owned()).collect();
    let lines: Vec<Vec<String>> = [head].into_iter().chain(rows.iter().map(Table::cells)).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..R::HEAD.len()).map(width).collect();
    let mut table = String::new();
    for line in &lines {
        for (column, cell) in line.iter().enumerate() {
            let width = widths[column];
            let padded = if column == 0 { format!("{cell:<width$}") } else { format!("  {cell:>width$}") };
            table.push_str(&padded);
        }
        table.push('\n');
    }
    table
}

/// A table as CSV, one line for each row.
pub fn to_csv<R: Table>(rows: &[R]) -> String {
    let quoted = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
    let head = R::HEAD.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",");
    let lines = rows.iter().map(|row| row.cells().iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(","));
    let mut csv = head;
    for line in lines {
        csv.push('\n');
        csv.push_str(&line);
    }
    csv.push('\n');
    csv
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> ChunkingRow {
        let scores = [
            ChunkScores { recall: 1.0, precision: 0.5, iou: 0.5, precision_omega: 0.4 },
            ChunkScores { recall: 0.0, precision: 0.1, iou: 0.1, precision_omega: 0.2 },
        ];
        let label = ChunkingLabel { chunker: "recursive".to_owned(), size: 200, chunks: 7, ..ChunkingLabel::default() };
        ChunkingRow::new(label, scores.to_vec())
    }

    #[test]
    fn rows_are_compared_question_by_question() {
        let better = ChunkingRow::new(
            ChunkingLabel::default(),
            row().scores.iter().map(|scores| ChunkScores { iou: scores.iou + 0.1, ..*scores }).collect(),
        );
        let difference = better.less(&row());
        assert!((difference.iou.mean - 10.0).abs() < 1e-9 && difference.iou.is_real());
        assert!(!difference.recall.is_real());
    }

    #[test]
    fn rows_are_percentages_of_means() {
        let row = row();
        assert!((row.recall_mean - 50.0).abs() < 1e-9 && (row.recall_sd - 50.0).abs() < 1e-9);
        assert!((row.precision_omega_mean - 30.0).abs() < 1e-9);
    }

    #[test]
    fn tables_are_aligned_and_csv_is_quoted() {
        let table = to_table(&[row(), row()]);
        let widths: Vec<usize> = table.lines().map(|line| line.chars().count()).collect();
        assert_eq!(widths.len(), 3);
        assert!(widths.iter().all(|width| *width == widths[0]), "{table}");
        assert!(to_csv(&[row()]).starts_with("\"chunker\",\"mode\""));
    }
}
