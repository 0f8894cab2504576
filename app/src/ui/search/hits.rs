//! The list of hits. Only visible rows are built.

use egui::text::LayoutJob;
use egui::{Align2, FontId, Rect, Role, ScrollArea, Sense, Ui, Vec2, WidgetInfo, pos2};

use super::super::theme::{palette, tokens};
use super::super::widgets::format;
use super::snippet;
use crate::command::Command;
use crate::retrieve::{MatchKind, SearchHit, SearchResults};

const ROW_HEIGHT: f32 = 104.0;
const RANK_WIDTH: f32 = 36.0;
const SCORES_WIDTH: f32 = 150.0;

pub(super) fn hits_ui(ui: &mut Ui, results: &SearchResults, selected: Option<usize>, commands: &mut Vec<Command>) {
    ui.spacing_mut().item_spacing.y = 0.0;
    let area = ScrollArea::vertical().id_salt("hits").auto_shrink(false);
    area.show_rows(ui, ROW_HEIGHT, results.hits.len(), |ui, visible| {
        for index in visible {
            hit_ui(ui, index, results, selected == Some(index), commands);
        }
    });
}

fn hit_ui(ui: &mut Ui, index: usize, results: &SearchResults, is_selected: bool, commands: &mut Vec<Command>) {
    let hit = &results.hits[index];
    let colours = palette(ui);
    let (rect, _) = ui.allocate_exact_size(Vec2::new(ui.available_width(), ROW_HEIGHT), Sense::hover());
    let response = ui.interact(rect, ui.scope_id().with(("hit", index)), Sense::click());
    response.widget_info(|| {
        WidgetInfo::selected(Role::ListItem, true, is_selected, format!("Hit {}: {}", hit.rank, hit.title))
    });
    let ground = match (is_selected, response.hovered()) {
        (true, _) => Some(colours.accent_wash),
        (false, true) => Some(colours.hover),
        _ => None,
    };
    if let Some(ground) = ground {
        ui.painter().rect_filled(rect.shrink2(Vec2::new(0.0, 1.0)), tokens().space.radius, ground);
    }
    ui.painter().hline(rect.x_range(), rect.bottom(), egui::Stroke::new(1.0, colours.hairline));
    paint(ui, rect, hit, &results.query);
    if response.double_clicked() {
        commands.push(Command::OpenInChunks { document: hit.chunk.document, byte: Some(hit.chunk.start) });
    } else if response.clicked() {
        commands.push(Command::SelectHit(index));
    }
    if is_selected && ui.ctx().memory(|memory| memory.focused().is_some()) {
        response.scroll_to_me(None);
    }
    response.context_menu(|ui| menu_ui(ui, hit, commands));
}

fn menu_ui(ui: &mut Ui, hit: &SearchHit, commands: &mut Vec<Command>) {
    if ui.button("Open in Chunks").clicked() {
        commands.push(Command::OpenInChunks { document: hit.chunk.document, byte: Some(hit.chunk.start) });
        ui.close();
    }
    if ui.button("Copy text").clicked() {
        ui.ctx().copy_text(hit.chunk.text.clone());
        ui.close();
    }
}

fn paint(ui: &Ui, rect: Rect, hit: &SearchHit, query: &str) {
    let colours = palette(ui);
    let text = &tokens().text;
    let inner = rect.shrink2(Vec2::new(8.0, 10.0));
    let rank_at = pos2(inner.left() + RANK_WIDTH - 12.0, inner.top() + 1.0);
    ui.painter().text(rank_at, Align2::RIGHT_TOP, hit.rank, FontId::monospace(text.mono), colours.ink_faint);
    let left = inner.left() + RANK_WIDTH;
    let width = inner.width() - RANK_WIDTH - SCORES_WIDTH - 16.0;
    let mut title = LayoutJob::default();
    let strong = FontId::new(text.body - 1.0, super::super::theme::strong_font());
    title.append(&hit.title, 0.0, egui::TextFormat::simple(strong, colours.ink));
    let mut place = format::place(&hit.chunk.place);
    if hit.also > 0 {
        place.push_str(&format!("  ·  and {} more like it", hit.also));
    }
    title.append(&place, 10.0, egui::TextFormat::simple(FontId::proportional(text.secondary), colours.ink_secondary));
    title.wrap = egui::text::TextWrapping::truncate_at_width(width);
    ui.painter().galley(pos2(left, inner.top()), ui.painter().layout_job(title), colours.ink);
    let mut job = snippet::around_match(ui, &hit.chunk.text, query, text.secondary + 0.5);
    job.wrap = egui::text::TextWrapping { max_width: width, max_rows: 3, ..Default::default() };
    ui.painter().galley(pos2(left, inner.top() + 23.0), ui.painter().layout_job(job), colours.ink);
    scores(ui, Rect::from_min_max(pos2(inner.right() - SCORES_WIDTH, inner.top()), inner.max), hit);
}

/// Every score by its name; the one that ranked is set in ink, with a bar.
fn scores(ui: &Ui, rect: Rect, hit: &SearchHit) {
    let colours = palette(ui);
    let named = [
        ("rerank", hit.scores.rerank),
        ("fused", hit.scores.fused),
        ("cosine", hit.scores.vector),
        ("BM25", hit.scores.keyword),
    ];
    let shown = named.iter().filter_map(|(name, score)| score.map(|score| (*name, score)));
    let mut y = rect.top();
    for (position, (name, score)) in shown.enumerate() {
        let ink = if position == 0 { colours.ink } else { colours.ink_secondary };
        let caption = FontId::proportional(tokens().text.caption);
        ui.painter().text(pos2(rect.right() - 56.0, y + 1.0), Align2::RIGHT_TOP, name, caption, colours.ink_secondary);
        let number = FontId::monospace(tokens().text.mono);
        ui.painter().text(pos2(rect.right(), y), Align2::RIGHT_TOP, format!("{score:.3}"), number, ink);
        y += 18.0;
    }
    let legs = match hit.found_by {
        MatchKind::Hybrid => "words + meaning",
        MatchKind::Vector => "meaning only",
        MatchKind::Keyword => "words only",
    };
    let font = FontId::proportional(tokens().text.caption);
    ui.painter().text(pos2(rect.right(), rect.bottom() + 2.0), Align2::RIGHT_BOTTOM, legs, font, colours.ink_faint);
}
