//! Every colour, font and distance of the window, read from `assets/theme`.
//!
//! Invariant: no other module names a colour. Panels ask [`palette`] for the colours of the theme in use and
//! [`tokens`] for sizes.

mod fonts;
mod style;
mod tokens;

pub(crate) use fonts::{install as install_fonts, strong_family as strong_font};
pub(crate) use style::{apply, for_reading, mono, secondary, strong, title};
pub(crate) use tokens::{Layer, Palette, tokens};

use egui::{Color32, Ui};

/// The colours of the theme that `ui` is drawn in.
pub(crate) fn palette(ui: &Ui) -> &'static Palette {
    tokens().palette(ui.visuals().dark_mode)
}

/// The colours of layer `index`; neighbours differ.
pub(crate) fn layer(ui: &Ui, index: usize) -> Layer {
    tokens().layer(ui.visuals().dark_mode, index)
}

/// The colour of a similarity that is `share` (0 to 1) of the way from unlike to like.
#[expect(clippy::disallowed_methods, reason = "this is where the ramp becomes colours")]
pub(crate) fn ramp(share: f32) -> Color32 {
    let [red, green, blue] = crate::similarity::ramp(share);
    Color32::from_rgb(red, green, blue)
}

/// What leaves the colours of a picture as they are.
pub(crate) fn untinted() -> Color32 {
    Color32::WHITE
}
