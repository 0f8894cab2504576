//! What was searched and read for an answer, and how long it took.

use egui::Ui;

use super::super::theme::{secondary, tokens};
use super::super::widgets::{format, link};
use crate::answer::Answer;
use crate::state::Coverage;

/// `Qwen 0.5B · 7 of 12 passages used · seen 7 of 140 chunks · search 12 ms · 4.2 s in all`; gives whether the passages
/// were clicked.
pub(super) fn footer_ui(ui: &mut Ui, answer: &Answer, is_listed: bool) -> bool {
    let parts = parts(answer);
    ui.horizontal_wrapped(|ui| {
        if !answer.refused {
            caption(ui, &format!("{}  ·", answer.model));
        }
        let used = used(answer.passages_used, answer.passages_found);
        let clicked = if answer.passages.is_empty() {
            caption(ui, &used);
            false
        } else {
            let why = if is_listed { "Hide the passages" } else { "Why these passages?" };
            link(ui, &used).on_hover_text(why).clicked()
        };
        caption(ui, &format!("·  {}", parts.join("  ·  ")));
        clicked
    })
    .inner
}

/// The same for an answer that is not there, as far as it is known.
pub(super) fn coverage_ui(ui: &mut Ui, coverage: Coverage) {
    let searched = format::counted(coverage.searched, "chunk");
    let text = match coverage.used {
        None => format!("{} found in {searched}", format::counted(coverage.found, "passage")),
        Some(read) => {
            format!("{}  ·  seen {} of {searched}", used(read, coverage.found), format::count(read))
        }
    };
    caption(ui, &text);
}

fn used(read: usize, found: usize) -> String {
    format!("{} of {} used", format::count(read), format::counted(found, "passage"))
}

fn parts(answer: &Answer) -> Vec<String> {
    let times = answer.took_ms;
    let mut parts = Vec::new();
    if answer.passages_searched > 0 {
        let searched = format::counted(answer.passages_searched, "chunk");
        parts.push(format!("seen {} of {searched}", format::count(answer.passages_used)));
    }
    parts.push(format!("search {}", format::millis(times.retrieve)));
    parts.extend(times.first_token.map(|first| format!("first token {}", format::millis(first))));
    parts.push(format!("{} in all", format::millis(times.total)));
    if answer.answer_tokens > 0 {
        parts.push(format::counted(answer.answer_tokens, "token"));
    }
    if answer.markers_dropped > 0 {
        parts.push(format!("{} dropped", format::counted(answer.markers_dropped, "false marker")));
    }
    parts
}

fn caption(ui: &mut Ui, text: &str) {
    ui.label(secondary(text).size(tokens().text.caption));
}
