//! The line at the bottom: jobs at the left, backend and models at the right.

use egui::{Align, Frame, Label, Layout, Margin, Panel, Sense, Ui};

use super::theme::{palette, secondary, tokens};
use super::widgets::{format, link, pace_line};
use crate::command::Command;
use crate::progress::{IngestPhase, IngestProgress};
use crate::state::{AppState, Opened, Space};

/// Left free between both ends of the line, with the dot between two words.
const GAP: f32 = 32.0;

/// Draws the status line.
pub(super) fn status_line_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let frame = Frame::new().fill(palette(ui).surface).inner_margin(Margin::symmetric(14, 0));
    let panel = Panel::bottom("status_line").exact_size(tokens().space.status_height).frame(frame);
    panel.show(ui, |ui| {
        ui.horizontal_centered(|ui| {
            jobs_ui(ui, state, commands);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| machine_ui(ui, state, commands));
        });
    });
}

fn jobs_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    if let Some(progress) = &state.library.ingest {
        ui.label(secondary(ingest_sentence(progress, state.library.queued)));
        if state.library.cancelling {
            ui.label(secondary("stopping"));
        } else if state.space != Space::Library && link(ui, "Cancel ingest").clicked() {
            commands.push(Command::CancelIngest);
        }
    } else if let Some(pace) = &state.lab.embedding {
        if pace_line(ui, "embedding", pace, "segments") {
            commands.push(Command::StopEmbedding);
        }
    } else if state.chat.running().is_some() {
        ui.label(secondary("answering"));
    } else if state.opened.is_pending() {
        ui.label(secondary("opening the library"));
    } else {
        let (documents, chunks) = state.library.totals();
        let sentence = format!("{}  ·  {}", format::counted(documents, "document"), format::counted(chunks, "chunk"));
        ui.label(secondary(sentence));
    }
}

/// `Ingesting 41 of 120 files · 3 180 chunks · 52/s · 1 min left`.
pub(super) fn ingest_sentence(progress: &IngestProgress, queued: usize) -> String {
    if progress.phase == IngestPhase::Scanning && progress.files_total == 0 {
        return "Looking for files".to_owned();
    }
    let mut parts = vec![
        format!(
            "Ingesting {} of {}",
            format::count(progress.files_done),
            format::counted(progress.files_total, "file")
        ),
        format::counted(progress.chunks_done, "chunk"),
    ];
    if progress.chunks_per_sec > 0.0 {
        parts.push(format!("{:.0}/s", progress.chunks_per_sec));
    }
    if let Some(secs) = progress.secs_left {
        parts.push(format!("{} left", format::seconds(secs)));
    }
    if queued > 0 {
        parts.push(format!("{queued} more waiting"));
    }
    parts.join("  ·  ")
}

/// A word at the right of the line.
struct Fact<'a> {
    text: &'a str,
    help: &'a str,
    is_warning: bool,
    command: Option<Command>,
}

/// What the window works with, from the right: what one has to know first. From the first that does
/// not fit beside the jobs the others are left out; a warning is cut short instead.
fn machine_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let Some(opened) = state.opened.value() else {
        return;
    };
    let mut is_first = true;
    for fact in facts(opened, state.generator_name()) {
        let font = egui::TextStyle::Small.resolve(ui.style());
        let width = ui.painter().layout_no_wrap(fact.text.to_owned(), font, palette(ui).ink).size().x;
        if width + GAP > ui.available_width() && !fact.is_warning {
            break;
        }
        if !is_first {
            ui.label(secondary("·"));
        }
        is_first = false;
        let text = if fact.is_warning { secondary(fact.text).color(palette(ui).warning) } else { secondary(fact.text) };
        let sense = if fact.command.is_some() { Sense::click() } else { Sense::hover() };
        if ui.add(Label::new(text).truncate().sense(sense)).on_hover_text(fact.help).clicked() {
            commands.extend(fact.command);
        }
    }
}

fn facts<'a>(opened: &'a Opened, generator: &'a str) -> Vec<Fact<'a>> {
    let fact = |text, help| Fact { text, help, is_warning: false, command: None };
    let mut facts = Vec::new();
    if opened.read_only {
        let help = "Another window or command has this library open and writes to it";
        facts.push(Fact { is_warning: true, ..fact("read only", help) });
    }
    if let Some(note) = &opened.embedder_note {
        let command = Some(Command::ShowSpace(Space::Models));
        facts.push(Fact { is_warning: true, command, ..fact(&opened.embedder, note) });
    }
    facts.push(fact(generator, "Writes the answers; choose another one under Models"));
    if opened.embedder_note.is_none() {
        facts.push(fact(&opened.embedder, "Embedder of this library"));
    }
    facts.push(fact(&opened.backend, "Where vectors are searched"));
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_reads_as_one_line() {
        let progress = IngestProgress {
            phase: IngestPhase::Embedding,
            files_done: 41,
            files_total: 120,
            chunks_done: 3180,
            chunks_per_sec: 52.4,
            secs_left: Some(100.0),
            ..IngestProgress::default()
        };
        let line = "Ingesting 41 of 120 files  ·  3\u{202F}180 chunks  ·  52/s  ·  2 min left  ·  1 more waiting";
        assert_eq!(ingest_sentence(&progress, 1), line);
        assert_eq!(ingest_sentence(&IngestProgress::default(), 0), "Looking for files");
    }

    #[test]
    fn warnings_come_first() {
        let whole = Opened { embedder: "minilm".to_owned(), backend: "CPU".to_owned(), ..Opened::default() };
        let words = |opened: &Opened| facts(opened, "qwen").iter().map(|fact| fact.text.to_owned()).collect::<Vec<_>>();
        assert_eq!(words(&whole), ["qwen", "minilm", "CPU"]);
        let poor = Opened { embedder_note: Some("none".to_owned()), read_only: true, ..whole };
        assert_eq!(words(&poor), ["read only", "minilm", "qwen", "CPU"]);
    }
}
