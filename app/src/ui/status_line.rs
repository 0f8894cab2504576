//! The line at the bottom: jobs at the left, backend and models at the right.

use egui::{Align, Frame, Layout, Margin, Panel, Ui};

use super::theme::{palette, secondary, tokens};
use super::widgets::{format, link, pace_line};
use crate::command::Command;
use crate::progress::{IngestPhase, IngestProgress};
use crate::state::{AppState, Space};

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

fn machine_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let Some(opened) = state.opened.value() else {
        return;
    };
    ui.label(secondary(state.generator_name())).on_hover_text("Writes the answers; choose another one under Models");
    ui.label(secondary("·"));
    match &opened.embedder_note {
        Some(note) => {
            let text = secondary(&opened.embedder).color(palette(ui).warning);
            let label = ui.add(egui::Label::new(text).sense(egui::Sense::click())).on_hover_text(note);
            if label.clicked() {
                commands.push(Command::ShowSpace(Space::Models));
            }
        }
        None => {
            ui.label(secondary(&opened.embedder)).on_hover_text("Embedder of this library");
        }
    }
    ui.label(secondary("·"));
    ui.label(secondary(&opened.backend)).on_hover_text("Where vectors are searched");
    if opened.read_only {
        ui.label(secondary("read only").color(palette(ui).warning))
            .on_hover_text("Another window or command has this library open and writes to it");
    }
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
}
