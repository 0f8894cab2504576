//! The pages of the selected passage as they look, with its words marked.

use std::sync::Arc;

use egui::load::SizedTexture;
use egui::{
    ColorImage, Image, Rect, Role, Sense, Stroke, StrokeKind, TextureHandle, TextureOptions, Ui, Vec2, WidgetInfo,
};

use super::theme::{palette, secondary, tokens};
use super::widgets::{error_block, format, hairline, pending_line};
use crate::extract::{PagePicture, PixelBox};
use crate::state::PagesState;

/// How much of the marking colour lies over the page.
const MARK_STRENGTH: f32 = 0.55;

/// Draws pages; keeps their textures while they are shown.
#[derive(Default)]
pub(super) struct PageView {
    shown: Vec<(Arc<PagePicture>, TextureHandle)>,
}

impl PageView {
    /// Draws the pages of `pages`, as wide as there is room.
    pub(super) fn ui(&mut self, ui: &mut Ui, pages: &PagesState) {
        if let Some(error) = pages.pictures.error() {
            ui.add_space(8.0);
            error_block(ui, error);
        }
        if pages.pictures.is_pending() {
            pending_line(ui, "Drawing the page");
        }
        self.take_in(ui, pages);
        for (picture, texture) in &self.shown {
            ui.add_space(10.0);
            hairline(ui);
            ui.add_space(6.0);
            ui.label(secondary(caption(picture)).size(tokens().text.caption));
            page_ui(ui, picture, texture);
        }
    }

    /// Makes textures of new pictures and lets go of old ones.
    fn take_in(&mut self, ui: &Ui, pages: &PagesState) {
        let wanted = pages.pictures.value().map(Vec::as_slice).unwrap_or_default();
        let same = wanted.len() == self.shown.len()
            && wanted.iter().zip(&self.shown).all(|(one, (other, _))| Arc::ptr_eq(one, other));
        if same {
            return;
        }
        let texture = |picture: &Arc<PagePicture>| {
            let size = [picture.width as usize, picture.height as usize];
            let image = ColorImage::from_rgba_unmultiplied(size, &picture.rgba);
            (Arc::clone(picture), ui.ctx().load_texture("page", image, TextureOptions::LINEAR))
        };
        self.shown = wanted.iter().map(texture).collect();
    }
}

fn caption(picture: &PagePicture) -> String {
    let place = format!("page {} of {}", picture.page, format::count(picture.pages as usize));
    if picture.boxes.is_empty() {
        return format!("{place}  ·  the passage was not found on it; the file may have changed");
    }
    place
}

fn page_ui(ui: &mut Ui, picture: &PagePicture, texture: &TextureHandle) {
    let colours = palette(ui);
    let width = ui.available_width();
    let scale = width / picture.width.max(1) as f32;
    let (rect, response) = ui.allocate_exact_size(Vec2::new(width, picture.height as f32 * scale), Sense::hover());
    let marked = format::counted(picture.boxes.len(), "marked line");
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, format!("Page {}, {marked}", picture.page)));
    Image::from_texture(SizedTexture::new(texture.id(), rect.size())).paint_at(ui, rect);
    for found in &picture.boxes {
        let shown = placed(found, rect, scale).expand(1.5);
        ui.painter().rect_filled(shown, 2.0, colours.mark.gamma_multiply(MARK_STRENGTH));
        ui.painter().rect_stroke(shown, 2.0, Stroke::new(1.0, colours.accent), StrokeKind::Outside);
    }
    ui.painter().rect_stroke(rect, 0.0, Stroke::new(1.0, colours.hairline), StrokeKind::Inside);
}

fn placed(found: &PixelBox, page: Rect, scale: f32) -> Rect {
    let corner = |x: f32, y: f32| page.min + Vec2::new(x, y) * scale;
    Rect::from_min_max(corner(found.left, found.top), corner(found.right, found.bottom))
}
