//! How to search: legs, fusion, weights, threshold, filters.

use egui::{DragValue, Slider, Ui};

use super::super::widgets::{field, number_field, segmented, unbroken};
use super::filters::FilterRow;
use crate::command::Command;
use crate::retrieve::{Fusion, Grouping, SearchMode, SearchOptions};
use crate::state::AppState;

/// Weight of relevance against novelty where variety is wanted.
const VARIED: f32 = 0.7;

pub(super) fn options_ui(ui: &mut Ui, filters: &mut FilterRow, state: &AppState, commands: &mut Vec<Command>) {
    let mut options = state.search.options.clone();
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 12.0;
        let modes = [(SearchMode::Hybrid, "Hybrid"), (SearchMode::Vector, "Meaning"), (SearchMode::Keyword, "Words")];
        if let Some(mode) = segmented(ui, options.mode, &modes) {
            options.mode = mode;
        }
        if options.mode == SearchMode::Hybrid {
            fusion_ui(ui, &mut options);
        }
    });
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 12.0;
        if let Some(k) = number_field(ui, "Hits", options.k, 1..=200) {
            options.k = k;
        }
        min_score_ui(ui, &mut options);
        stages_ui(ui, &mut options);
    });
    filters.ui(ui, state, &mut options);
    if options != state.search.options {
        commands.push(Command::SetSearchOptions(options));
    }
}

fn fusion_ui(ui: &mut Ui, options: &mut SearchOptions) {
    let fusions = [(Fusion::Weighted, "Weighted"), (Fusion::Rrf, "Rank fusion")];
    if let Some(fusion) = segmented(ui, options.fusion, &fusions) {
        options.fusion = fusion;
    }
    if options.fusion == Fusion::Weighted {
        let mut alpha = options.alpha;
        let slider = Slider::new(&mut alpha, 0.0..=1.0).fixed_decimals(2).step_by(0.05);
        let help = "Share of meaning in the fused score; the rest is words";
        if field(ui, "Meaning weight", |ui| ui.add(slider)).on_hover_text(help).changed() {
            options.alpha = alpha;
        }
    }
}

fn min_score_ui(ui: &mut Ui, options: &mut SearchOptions) {
    let mut is_set = options.min_score.is_some();
    let mut least = options.min_score.unwrap_or(0.0);
    // The scores of rank fusion are all under 0.033.
    let help = "Hits whose ranking score is lower are left out; 0 leaves out negative ones";
    unbroken(ui, "minimum", |ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let toggled = ui.checkbox(&mut is_set, "Minimum score").on_hover_text(help).changed();
        let drag = |least| DragValue::new(least).range(0.0..=100.0).speed(0.002).fixed_decimals(3);
        let dragged = is_set && ui.add(drag(&mut least)).accessible_name("Lowest score").on_hover_text(help).changed();
        if toggled || dragged {
            options.min_score = is_set.then_some(least);
        }
    });
}

/// What happens after the legs: reranking, grouping, variety.
fn stages_ui(ui: &mut Ui, options: &mut SearchOptions) {
    let help =
        "Ranks the best 50 again, by a cross-encoder where one is installed, else by comparing tokens; takes longer";
    ui.checkbox(&mut options.rerank, "Rerank").on_hover_text(help);
    let groups =
        [(Grouping::None, "All"), (Grouping::Duplicates, "Fold duplicates"), (Grouping::Page, "One for each page")];
    if let Some(group) = segmented(ui, options.group, &groups) {
        options.group = group;
    }
    let mut varied = options.mmr.is_some();
    let help = "Prefers passages that are unlike those above them";
    if ui.checkbox(&mut varied, "Varied").on_hover_text(help).changed() {
        options.mmr = varied.then_some(VARIED);
    }
}
