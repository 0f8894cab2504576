//! A conversation as Markdown, sources included.

use std::fmt::Write;

use super::{Answer, Citation};

/// The answers as one Markdown text, oldest first.
pub fn to_markdown(title: &str, answers: &[Answer]) -> String {
    let mut text = format!("# {}\n", one_line(title));
    for answer in answers {
        let _ = write!(text, "\n## {}\n\n", one_line(&answer.question));
        if let Some(standalone) = &answer.standalone {
            let _ = writeln!(text, "*Searched for: {}*\n", one_line(standalone));
        }
        let _ = writeln!(text, "{}\n", answer.answer.trim());
        for citation in &answer.citations {
            let _ = writeln!(text, "- {}", source(citation));
        }
        for doubtful in &answer.unsupported {
            let _ = writeln!(text, "- [?] “{}”: {}", one_line(&doubtful.sentence), doubtful.reason);
        }
        let _ = writeln!(text, "\n*{} · {} · {:.1} s*", answer.model, coverage(answer), answer.took_ms.total / 1e3);
        for note in &answer.notes {
            let _ = writeln!(text, "\n*{}*", one_line(note));
        }
    }
    text
}

/// `5 of 12 passages used · seen 5 of 4000 chunks`.
fn coverage(answer: &Answer) -> String {
    let (used, searched) = (answer.passages_used, answer.passages_searched);
    let used_of_found = format!("{used} of {} passages used", answer.passages_found);
    if searched == 0 { used_of_found } else { format!("{used_of_found} · seen {used} of {searched} chunks") }
}

/// `[1] contract.docx, p. 2, Payment: “…”`.
fn source(citation: &Citation) -> String {
    let name = citation.path.file_name().unwrap_or(citation.path.as_os_str()).to_string_lossy();
    let mut place = String::new();
    if let Some((first, last)) = citation.pages {
        let _ = if first == last { write!(place, ", p. {first}") } else { write!(place, ", pp. {first}–{last}") };
    }
    if !citation.heading.is_empty() {
        let _ = write!(place, ", {}", citation.heading.join(" › "));
    }
    format!("[{}] {name}{place}: “{}”", citation.marker, one_line(&citation.quote))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
