//! The window's icon: layers that come to the surface, in the theme's own colours.

use egui::{Color32, IconData};

use super::theme::tokens;

const SIDE: usize = 64;

/// Draws the icon.
pub(super) fn window_icon() -> IconData {
    let pixels = (0..SIDE * SIDE).map(|position| pixel(position % SIDE, position / SIDE));
    IconData {
        rgba: pixels.flat_map(|pixel| pixel.to_srgba_unmultiplied()).collect(),
        width: SIDE as u32,
        height: SIDE as u32,
    }
}

fn pixel(x: usize, y: usize) -> Color32 {
    if !in_rounded_square(x, y) {
        return Color32::TRANSPARENT;
    }
    let (x, y) = (x as f32, y as f32);
    let surface = 30.0 - 0.28 * x + 5.0 * (x * 0.11).sin();
    if y < surface {
        return tokens().palette(false).ground;
    }
    let layer = ((y - surface) / 9.0) as usize;
    tokens().layer(false, layer).edge
}

fn in_rounded_square(x: usize, y: usize) -> bool {
    let radius = 14.0;
    let beyond = |at: usize| {
        let at = at as f32 + 0.5;
        (radius - at).max(at - (SIDE as f32 - radius)).max(0.0)
    };
    beyond(x).hypot(beyond(y)) <= radius
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_icon_is_opaque_inside_and_clear_at_the_corners() {
        let icon = window_icon();
        let alpha = |x: usize, y: usize| icon.rgba[(y * SIDE + x) * 4 + 3];
        assert_eq!(icon.rgba.len(), SIDE * SIDE * 4);
        assert_eq!((alpha(0, 0), alpha(SIDE / 2, SIDE / 2)), (0, 255));
    }
}
