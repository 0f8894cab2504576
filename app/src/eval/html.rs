//! A comparison of chunkers on a labelled set as one HTML file.

use super::anchors::ANCHORS;
use super::bootstrap::Interval;
use super::figure::recall_over_iou;
use super::report::ChunkingRow;
use crate::figure::html::Page;

/// Writes the report. `facts` are lines of name and value printed under the title (set, embedder).
pub fn report(rows: &[ChunkingRow], title: &str, facts: &[(String, String)]) -> String {
    let mut page = Page::new(title);
    page.facts(facts);
    page.figure(&recall_over_iou(rows, title));
    page.heading("Rows");
    let head = [
        "chunker",
        "found by",
        "number",
        "chunks",
        "mean chars",
        "recall",
        "precision",
        "omega",
        "IoU",
        "recall over first",
        "IoU over first",
    ];
    let ours = rows.iter().enumerate().map(|(index, row)| cells(index, row));
    let head = std::iter::once(head.map(str::to_owned).to_vec());
    page.table(&head.chain(ours).chain(published()).collect::<Vec<_>>());
    page.heading("What the measures mean");
    for text in MEASURES {
        page.paragraph(&[("", text)]);
    }
    page.finish()
}

fn cells(index: usize, row: &ChunkingRow) -> Vec<String> {
    let against = row.against.as_ref();
    vec![
        row.spec.clone(),
        row.mode.clone(),
        (index + 1).to_string(),
        row.chunks.to_string(),
        format!("{:.0}", row.mean_chars),
        with_ends(row.recall_mean, row.recall_interval),
        format!("{:.1}", row.precision_mean),
        format!("{:.1}", row.precision_omega_mean),
        with_ends(row.iou_mean, row.iou_interval),
        difference(against.map(|against| against.recall)),
        difference(against.map(|against| against.iou)),
    ]
}

fn published() -> impl Iterator<Item = Vec<String>> {
    ANCHORS.iter().map(|anchor| {
        let number = |value: f64| format!("{value:.1}");
        let mut row = vec![format!("{}, published", anchor.name), "vector".to_owned()];
        row.extend([String::new(), String::new(), String::new(), number(anchor.recall), number(anchor.precision)]);
        row.extend([number(anchor.precision_omega), number(anchor.iou), String::new(), String::new()]);
        row
    })
}

fn with_ends(mean: f64, (low, high): (f64, f64)) -> String {
    format!("{mean:.1} ({low:.1}–{high:.1})")
}

/// In asterisks where it is real.
fn difference(difference: Option<Interval>) -> String {
    difference.map_or_else(String::new, |interval| {
        let Interval { mean, low, high } = interval;
        let sign = if interval.is_real() { "*" } else { "" };
        format!("{sign}{mean:+.1} ({low:+.1} to {high:+.1}){sign}")
    })
}

const MEASURES: [&str; 3] = [
    "For each question the five best chunks of all texts are taken. Recall is the part of the excerpts that they hold, \
     precision the part of them that is excerpt, IoU what both share over what either holds.",
    "Omega needs no retrieval: it is the precision that a perfect retriever could reach at full recall.",
    "Ranges are 95 % bootstrap intervals over the questions. “Over first” is the difference to the first row of the \
     same way of retrieval, question by question; marked where its interval leaves out 0, which is a real difference.",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::chunking::ChunkScores;
    use crate::eval::report::ChunkingLabel;

    #[test]
    fn reports_stand_alone_and_mark_what_is_real() {
        let rows = |iou: f64| {
            let scores = vec![ChunkScores { recall: 0.8, precision: 0.1, iou, precision_omega: 0.3 }; 5];
            ChunkingRow::new(ChunkingLabel { spec: "fixed:size=<9>".to_owned(), ..ChunkingLabel::default() }, scores)
        };
        let (first, mut second) = (rows(0.05), rows(0.07));
        second.against = Some(second.less(&first));
        let page = report(&[first, second], "Set", &[("embedder".to_owned(), "MiniLM".to_owned())]);
        assert!(page.contains("fixed:size=&lt;9&gt;") && page.contains("MiniLM") && page.contains("<svg"));
        assert!(page.contains("<b class=\"real\">+2.0"));
        assert_eq!(page.matches("http").count(), page.matches("www.w3.org").count(), "nothing is loaded");
    }
}
