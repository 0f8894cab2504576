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

use egui::Ui;

/// The colours of the theme that `ui` is drawn in.
pub(crate) fn palette(ui: &Ui) -> &'static Palette {
    tokens().palette(ui.visuals().dark_mode)
}

/// The colours of layer `index`; neighbours differ.
pub(crate) fn layer(ui: &Ui, index: usize) -> Layer {
    tokens().layer(ui.visuals().dark_mode, index)
}
