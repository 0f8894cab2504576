//! Sizes of chunks: a histogram and the numbers that matter.

use egui::{Rect, Role, Sense, Stroke, Ui, Vec2, WidgetInfo, pos2};

use super::super::theme::{palette, secondary, strong, tokens};
use super::super::widgets::format;
use crate::state::{LabResult, SizeStats};

const HEIGHT: f32 = 64.0;

pub(super) fn sizes_ui(ui: &mut Ui, result: &LabResult) {
    let stats = &result.stats;
    ui.add_space(4.0);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.label(strong(format::counted(stats.count, "chunk")).size(tokens().text.secondary));
        ui.label(secondary(format!(
            "·  mean {:.0}  ·  {}–{} {}  ·  cut in {}",
            stats.mean,
            format::count(stats.min),
            format::count(stats.max),
            format::unit(result.config.unit),
            format::millis(result.cut_ms),
        )));
    });
    histogram_ui(ui, stats, format::unit(result.config.unit));
}

fn histogram_ui(ui: &mut Ui, stats: &SizeStats, unit: &str) {
    let (rect, response) = ui.allocate_exact_size(Vec2::new(ui.available_width(), HEIGHT), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, "Sizes of chunks"));
    let Some(tallest) = stats.histogram.iter().max().filter(|tallest| **tallest > 0) else {
        return;
    };
    let colours = palette(ui);
    let plot = Rect::from_min_max(rect.min, pos2(rect.right(), rect.bottom() - 14.0));
    let step = plot.width() / stats.histogram.len() as f32;
    let under_pointer = response.hover_pos().map(|at| ((at.x - plot.left()) / step) as usize);
    for (bin, number) in stats.histogram.iter().enumerate() {
        let left = plot.left() + bin as f32 * step;
        let height = (*number as f32 / *tallest as f32) * (plot.height() - 4.0);
        let bar = Rect::from_min_max(pos2(left, plot.bottom() - height), pos2(left + step - 1.5, plot.bottom()));
        let is_lit = under_pointer == Some(bin);
        ui.painter().rect_filled(bar, 1.0, if is_lit { colours.accent } else { colours.ink_faint });
    }
    ui.painter().hline(plot.x_range(), plot.bottom(), Stroke::new(1.0, colours.hairline_strong));
    axis(ui, plot, stats);
    if let Some((bin, number)) = under_pointer.and_then(|bin| Some((bin, stats.histogram.get(bin)?))) {
        let edge = |bin: usize| format::count(bin * (stats.max + 1) / SizeStats::NUM_BINS);
        let text = format!("{} of {}–{} {unit}", format::counted(*number, "chunk"), edge(bin), edge(bin + 1));
        response.on_hover_text_at_pointer(text);
    }
}

fn axis(ui: &Ui, plot: Rect, stats: &SizeStats) {
    let colours = palette(ui);
    let font = egui::FontId::monospace(tokens().text.caption - 1.0);
    let text = |at, align, text: String| {
        ui.painter().text(at, align, text, font.clone(), colours.ink_faint);
    };
    let y = plot.bottom() + 2.0;
    text(pos2(plot.left(), y), egui::Align2::LEFT_TOP, "0".to_owned());
    text(pos2(plot.right(), y), egui::Align2::RIGHT_TOP, format::count(stats.max));
    let mean_x = plot.left() + (stats.mean / (stats.max + 1) as f64) as f32 * plot.width();
    ui.painter().vline(mean_x, plot.y_range(), Stroke::new(1.0, colours.accent));
    let far_from_ends = mean_x > plot.left() + 30.0 && mean_x < plot.right() - 60.0;
    if far_from_ends {
        text(pos2(mean_x, y), egui::Align2::CENTER_TOP, format!("mean {:.0}", stats.mean));
    }
}
