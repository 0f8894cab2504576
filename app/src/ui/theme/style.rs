//! Tokens to egui styles, one for each theme.

use egui::epaint::Shadow;
use egui::style::{ScrollAnimation, ScrollStyle, Selection, TextCursorStyle, WidgetVisuals, Widgets};
use egui::{
    Context, CornerRadius, FontFamily, FontId, Margin, RichText, Stroke, Style, TextStyle, Theme, Ui, Vec2, Visuals,
};

use super::fonts;
use super::tokens::{Palette, Tokens, tokens};

/// Gives both themes of `ctx` the look of the tokens.
pub(crate) fn apply(ctx: &Context) {
    for (theme, dark) in [(Theme::Light, false), (Theme::Dark, true)] {
        ctx.set_style_of(theme, style(tokens(), dark));
    }
}

/// Text in the secondary size and colour.
pub(crate) fn secondary(text: impl Into<String>) -> RichText {
    RichText::new(text).text_style(TextStyle::Small).weak()
}

/// Text of a title.
pub(crate) fn title(text: impl Into<String>) -> RichText {
    RichText::new(text).text_style(TextStyle::Heading)
}

/// Text in the semibold cut.
pub(crate) fn strong(text: impl Into<String>) -> RichText {
    RichText::new(text).family(fonts::strong_family())
}

/// Numbers that stand in columns.
pub(crate) fn mono(text: impl Into<String>) -> RichText {
    RichText::new(text).text_style(TextStyle::Monospace)
}

/// Sets `ui` for reading: the body size, where controls are smaller.
pub(crate) fn for_reading(ui: &mut Ui) {
    let body = FontId::proportional(tokens().text.body);
    ui.style_mut().text_styles.insert(TextStyle::Body, body);
}

fn style(tokens: &Tokens, dark: bool) -> Style {
    let mut style = Style::default();
    set_text(&mut style, tokens);
    set_spacing(&mut style, tokens);
    style.visuals = visuals(tokens, dark);
    style.animation_time = tokens.motion.quick_secs;
    style.scroll_animation = ScrollAnimation::duration(tokens.motion.quick_secs);
    style.interaction.tooltip_delay = 0.35;
    style.interaction.selectable_labels = true;
    style.url_in_tooltip = true;
    style
}

fn set_text(style: &mut Style, tokens: &Tokens) {
    let text = &tokens.text;
    style.text_styles = [
        (TextStyle::Body, FontId::proportional(text.control)),
        (TextStyle::Button, FontId::proportional(text.control)),
        (TextStyle::Small, FontId::proportional(text.secondary)),
        (TextStyle::Heading, FontId::new(text.title, fonts::strong_family())),
        (TextStyle::Monospace, FontId::new(text.mono, FontFamily::Monospace)),
    ]
    .into();
    style.drag_value_text_style = TextStyle::Monospace;
}

fn set_spacing(style: &mut Style, tokens: &Tokens) {
    let space = &tokens.space;
    let spacing = &mut style.spacing;
    spacing.item_spacing = Vec2::new(space.s, space.s);
    spacing.button_padding = Vec2::new(10.0, 4.0);
    spacing.interact_size = Vec2::new(40.0, space.control_height);
    spacing.window_margin = Margin::same(space.l as i8);
    spacing.menu_margin = Margin::same(space.xs as i8);
    spacing.combo_width = 96.0;
    spacing.slider_width = 140.0;
    spacing.slider_rail_height = 4.0;
    spacing.tooltip_width = 420.0;
    spacing.icon_width = 16.0;
    spacing.scroll = ScrollStyle { bar_width: 8.0, floating_width: 4.0, ..ScrollStyle::floating() };
}

fn visuals(tokens: &Tokens, dark: bool) -> Visuals {
    let colours = tokens.palette(dark);
    let radius = CornerRadius::same(tokens.space.radius as u8);
    let shadow = Shadow { offset: [0, 6], blur: 24, spread: 0, color: colours.shadow };
    Visuals {
        dark_mode: dark,
        weak_text_color: Some(colours.ink_secondary),
        widgets: widgets(colours, radius),
        selection: Selection { bg_fill: colours.selection, stroke: Stroke::new(1.5, colours.accent) },
        hyperlink_color: colours.accent,
        faint_bg_color: colours.surface,
        extreme_bg_color: colours.raised,
        text_edit_bg_color: Some(colours.raised),
        code_bg_color: colours.surface,
        warn_fg_color: colours.warning,
        error_fg_color: colours.error,
        window_corner_radius: CornerRadius::same(10),
        window_shadow: shadow,
        popup_shadow: shadow,
        window_fill: colours.raised,
        window_stroke: Stroke::new(tokens.space.hair, colours.hairline_strong),
        menu_corner_radius: radius,
        panel_fill: colours.ground,
        text_cursor: TextCursorStyle {
            stroke: Stroke::new(1.5, colours.accent),
            blink: false,
            ..TextCursorStyle::default()
        },
        striped: false,
        slider_trailing_fill: true,
        indent_has_left_vline: false,
        ..if dark { Visuals::dark() } else { Visuals::light() }
    }
}

fn widgets(colours: &Palette, corner_radius: CornerRadius) -> Widgets {
    let base = WidgetVisuals {
        bg_fill: colours.raised,
        weak_bg_fill: colours.raised,
        bg_stroke: Stroke::new(1.0, colours.hairline_strong),
        corner_radius,
        fg_stroke: Stroke::new(1.2, colours.ink),
        expansion: 0.0,
    };
    Widgets {
        noninteractive: WidgetVisuals {
            bg_fill: colours.ground,
            weak_bg_fill: colours.ground,
            bg_stroke: Stroke::new(1.0, colours.hairline),
            fg_stroke: Stroke::new(1.0, colours.ink),
            ..base
        },
        inactive: base,
        hovered: WidgetVisuals {
            bg_fill: colours.hover,
            weak_bg_fill: colours.hover,
            bg_stroke: Stroke::new(1.0, colours.ink_faint),
            ..base
        },
        active: WidgetVisuals {
            bg_fill: colours.pressed,
            weak_bg_fill: colours.pressed,
            bg_stroke: Stroke::new(1.5, colours.accent),
            ..base
        },
        open: WidgetVisuals {
            bg_fill: colours.hover,
            weak_bg_fill: colours.hover,
            bg_stroke: Stroke::new(1.0, colours.accent),
            ..base
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_themes_are_applied() {
        let ctx = Context::default();
        apply(&ctx);
        for (theme, dark) in [(Theme::Light, false), (Theme::Dark, true)] {
            let style = ctx.style_of(theme);
            assert_eq!(style.visuals.panel_fill, tokens().palette(dark).ground);
            assert_eq!(style.visuals.dark_mode, dark);
        }
    }
}
