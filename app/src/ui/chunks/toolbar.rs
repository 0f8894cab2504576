//! Document picker and chunker controls.

use egui::{Align, ComboBox, Frame, Layout, Margin, Panel, Slider, Ui};

use super::super::theme::{palette, title};
use super::super::widgets::{field, format, number_field, primary, quiet, segmented, vertical_hairline};
use crate::chunk::{ChunkerConfig, ChunkerKind, Threshold, Unit};
use crate::command::Command;
use crate::state::AppState;
use crate::store::DocumentStatus;

/// Largest size and smallest width of all controls in one row.
pub(super) const LARGEST_SIZE: usize = 20_000;
const ONE_ROW_WIDTH: f32 = 1360.0;

pub(super) fn toolbar_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let frame = Frame::new().fill(palette(ui).ground).inner_margin(Margin { left: 24, right: 16, top: 18, bottom: 8 });
    Panel::top("chunks_toolbar").frame(frame).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.label(title("Chunks"));
            ui.add_space(8.0);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                store_ui(ui, state, commands);
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| picker_ui(ui, state, commands));
            });
        });
        ui.add_space(2.0);
        if state.lab.is_comparing() {
            return;
        }
        ui.add_enabled_ui(state.lab.document.is_some(), |ui| {
            let mut config = state.lab.config.clone();
            controls_ui(ui, &mut config, state);
            if config != state.lab.config {
                commands.push(Command::SetChunker(sane(config)));
            }
        });
    });
}

fn picker_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let current = state.lab.document.and_then(|id| state.library.document(id));
    let shown = current.map_or("Choose a document", |record| record.title.as_str());
    let documents = state.library.documents.value().map(Vec::as_slice).unwrap_or_default();
    let width = ui.available_width().min(300.0);
    let combo = ComboBox::from_id_salt("document_picker").selected_text(shown).width(width).truncate();
    let response = combo.show_ui(ui, |ui| {
        for record in documents.iter().filter(|record| record.status == DocumentStatus::Ready) {
            if ui.selectable_label(state.lab.document == Some(record.id), &record.title).clicked() {
                commands.push(Command::OpenInChunks { document: record.id, byte: None });
            }
        }
    });
    response.response.accessible_name("Document");
}

/// Offers to keep the chunker in hand where it differs from what is stored.
fn store_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let Some(record) = state.lab.document.and_then(|id| state.library.document(id)) else {
        return;
    };
    if record.chunker.as_ref() != Some(&state.lab.config) && primary(ui, "Use for this document").clicked() {
        commands.push(Command::UseChunkerForDocument);
    }
    compare_ui(ui, state, commands);
    if state.settings.chunker != state.lab.config && quiet(ui, "Use for new documents").clicked() {
        commands.push(Command::UseChunkerForNew);
    }
}

/// Begins or ends a comparison.
fn compare_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    if state.lab.is_comparing() {
        if ui.button("End comparison").clicked() {
            commands.push(Command::CompareWith(Vec::new()));
        }
    } else if ui.button("Compare").on_hover_text("Set this chunker beside another one").clicked() {
        commands.push(Command::CompareWith(vec![rival(&state.lab.config)]));
    }
}

/// What a chunker is compared with first: the usual one, or for that one the semantic.
fn rival(config: &ChunkerConfig) -> ChunkerConfig {
    let kind = if config.kind == ChunkerKind::Recursive { ChunkerKind::Semantic } else { ChunkerKind::Recursive };
    ChunkerConfig { kind, overlap: 0, cuts: Vec::new(), ..config.clone() }
}

/// One row; the threshold takes a second one where the window is narrow.
fn controls_ui(ui: &mut Ui, config: &mut ChunkerConfig, state: &AppState) {
    let is_semantic = config.kind.has_threshold();
    let is_wide = ui.available_width() >= ONE_ROW_WIDTH;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 12.0;
        numbers_ui(ui, config);
        if is_semantic && is_wide {
            vertical_hairline(ui);
            threshold_ui(ui, config, state);
        }
    });
    if is_semantic && !is_wide {
        ui.horizontal_wrapped(|ui| threshold_ui(ui, config, state));
    }
}

fn numbers_ui(ui: &mut Ui, config: &mut ChunkerConfig) {
    kind_ui(ui, config);
    if let Some(size) = number_field(ui, "Size", config.size, 20..=LARGEST_SIZE) {
        config.size = size;
    }
    if let Some(overlap) = number_field(ui, "Overlap", config.overlap, 0..=LARGEST_SIZE / 2) {
        config.overlap = overlap;
    }
    if let Some(min_size) = number_field(ui, "At least", config.min_size, 0..=LARGEST_SIZE) {
        config.min_size = min_size;
    }
    if let Some(unit) = segmented(ui, config.unit, &[(Unit::Chars, "characters"), (Unit::Tokens, "tokens")]) {
        config.unit = unit;
    }
}

fn kind_ui(ui: &mut Ui, config: &mut ChunkerConfig) {
    field(ui, "Chunker", |ui| {
        let combo = ComboBox::from_id_salt("chunker").selected_text(format::chunker_word(config.kind)).width(110.0);
        combo.show_ui(ui, |ui| {
            for kind in ChunkerKind::ALL {
                ui.selectable_value(&mut config.kind, kind, format::chunker_word(kind)).on_hover_text(help(kind));
            }
        });
    });
}

pub(super) fn help(kind: ChunkerKind) -> &'static str {
    match kind {
        ChunkerKind::Recursive => "Paragraphs, lines, sentences, words: the coarsest that fits, filled up to the size",
        ChunkerKind::Sentence => "Whole sentences, filled up to the size",
        ChunkerKind::Markdown => "Headings first; tables and code kept whole where the size allows",
        ChunkerKind::Semantic => "Cuts where the meaning of neighbouring sentences differs most",
        ChunkerKind::Structure => "Headings first; small sections merged, large ones divided evenly",
        ChunkerKind::Cluster => "Groups sentences so that every chunk holds together best",
        ChunkerKind::Fixed => "Windows of the size at the nearest word: the baseline",
        ChunkerKind::Paragraph => "Whole paragraphs, filled up to the size; the overlap is counted in words",
        ChunkerKind::MaxMin => "A sentence joins if it is as close to the chunk as the chunk's own are to each other",
        ChunkerKind::Manual => "Cuts that you set by hand",
        ChunkerKind::Code => "Functions and blocks of source code, found by its grammar",
    }
}

/// The rule, with what it means here, and the value where it is one cosine.
fn threshold_ui(ui: &mut Ui, config: &mut ChunkerConfig, state: &AppState) {
    let result = state.lab.result.value();
    let resolved = result.and_then(|result| result.threshold).unwrap_or(0.5);
    let mut value = resolved;
    let slider = field(ui, "Threshold", |ui| ui.add(Slider::new(&mut value, 0.0..=1.0).fixed_decimals(2)));
    // The slider rounds what it is given to two decimals: only more than that is a change of somebody's.
    if slider.changed() && (value - resolved).abs() >= 0.005 {
        config.threshold = Threshold::Fixed(value);
    }
    let shown = threshold_word(config.threshold);
    let combo = ComboBox::from_id_salt("threshold_rule").selected_text(shown).width(128.0);
    let response = combo.show_ui(ui, |ui| {
        ui.selectable_value(&mut config.threshold, Threshold::Fixed(resolved), "Fixed");
        for (rule, cosine) in result.map(|result| result.alternatives.as_slice()).unwrap_or_default() {
            let word = format!("{}   {cosine:.2}", threshold_word(*rule));
            ui.selectable_value(&mut config.threshold, *rule, word);
        }
        if config.kind == ChunkerKind::Semantic {
            let steepest = Threshold::Gradient(90.0);
            ui.selectable_value(&mut config.threshold, steepest, threshold_word(steepest));
        }
    });
    response.response.accessible_name("Threshold rule");
    if config.kind == ChunkerKind::Semantic
        && let Some(window) = number_field(ui, "Smooth over", config.window, 1..=16)
    {
        config.window = window;
    }
}

fn threshold_word(threshold: Threshold) -> String {
    match threshold {
        Threshold::Auto => "Mean − sd".to_owned(),
        Threshold::Fixed(_) => "Fixed".to_owned(),
        Threshold::Deviations(number) => format!("Mean − {number} sd"),
        Threshold::Percentile(share) => format!("Lowest {} %", 100.0 - share),
        Threshold::Interquartile(number) => format!("Mean − {number} iqr"),
        Threshold::Gradient(share) => format!("Steepest {} %", 100.0 - share),
    }
}

/// Keeps the numbers of a configuration in order: overlap below size, minimum at most size.
pub(super) fn sane(mut config: ChunkerConfig) -> ChunkerConfig {
    config.size = config.size.max(1);
    config.overlap = config.overlap.min(config.size - 1);
    config.min_size = config.min_size.min(config.size);
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_kept_in_order() {
        let wild = ChunkerConfig { size: 100, overlap: 300, min_size: 200, ..ChunkerConfig::default() };
        let tame = sane(wild);
        assert_eq!((tame.size, tame.overlap, tame.min_size), (100, 99, 100));
        assert!(crate::chunk::build(&tame).is_ok());
    }
}
