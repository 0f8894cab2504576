//! Fonts: Inter for the interface in two weights, egui's monospace and symbols, and whatever system font has the
//! characters that these lack, found when such a character is first shown.

use std::sync::{Arc, OnceLock};

use egui::epaint::text::{FallbackRequest, FontInsert, FontProvider, VariationCoords};
use egui::{Context, FontData, FontDefinitions, FontFamily};
use fontdb::{Database, FaceInfo, ID};
use skrifa::{FontRef, MetadataProvider};

const INTER: &[u8] = include_bytes!("../../../../assets/fonts/Inter.ttf");

/// Families known to cover CJK well, best first; any other system font with the glyph comes after them.
const PREFERRED: [&str; 14] = [
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Source Han Sans SC",
    "PingFang SC",
    "Hiragino Sans",
    "Apple SD Gothic Neo",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "Noto Sans",
];

/// The family of the semibold cut.
pub(crate) fn strong_family() -> FontFamily {
    FontFamily::Name("strong".into())
}

/// Gives `ctx` the fonts of the window. The system's are looked for at once, in the background, so that the first
/// character that ours lack seldom has to wait for them.
pub(crate) fn install(ctx: &Context) {
    ctx.set_fonts(definitions());
    ctx.add_font_provider(Arc::new(SystemFonts));
    if let Err(err) = std::thread::Builder::new().name("fonts".to_owned()).spawn(system_fonts) {
        tracing::warn!("the system's fonts are read when they are needed: {err}");
    }
}

/// The fonts of the system, read once.
fn system_fonts() -> &'static Database {
    static DATABASE: OnceLock<Database> = OnceLock::new();
    DATABASE.get_or_init(|| {
        let mut database = Database::new();
        database.load_system_fonts();
        database
    })
}

fn definitions() -> FontDefinitions {
    let mut definitions = FontDefinitions::default();
    for (name, weight) in [("Inter", 420.0), ("Inter Semibold", 620.0)] {
        definitions.font_data.insert(name.to_owned(), Arc::new(inter(weight)));
    }
    let rest = definitions.families.get(&FontFamily::Proportional).cloned().unwrap_or_default();
    let chain = |first: &str| std::iter::once(first.to_owned()).chain(rest.iter().cloned()).collect();
    let (regular, semibold) = (chain("Inter"), chain("Inter Semibold"));
    definitions.families.insert(FontFamily::Proportional, regular);
    definitions.families.insert(strong_family(), semibold);
    definitions
}

fn inter(weight: f32) -> FontData {
    let mut data = FontData::from_static(INTER);
    data.tweak.coords = VariationCoords::new([(b"wght", weight), (b"opsz", 14.0)]);
    data
}

/// Asks the system for a font.
struct SystemFonts;

impl FontProvider for SystemFonts {
    fn font_for(&self, request: &FallbackRequest<'_>) -> Option<FontInsert> {
        let wanted = request.cluster.chars().next()?;
        let database = system_fonts();
        let id = candidates(database).into_iter().find(|id| has_glyph(database, *id, wanted))?;
        load(database, id)
    }
}

/// Upright faces of regular weight, preferred families first.
fn candidates(database: &Database) -> Vec<ID> {
    let rank = |face: &FaceInfo| {
        let known = PREFERRED.iter().position(|name| face.families.iter().any(|(family, _)| family == name));
        (known.unwrap_or(PREFERRED.len()), face.weight.0.abs_diff(400))
    };
    let upright = |face: &&FaceInfo| face.style == fontdb::Style::Normal;
    let mut faces: Vec<&FaceInfo> = database.faces().filter(upright).collect();
    faces.sort_by_key(|face| rank(face));
    faces.into_iter().map(|face| face.id).collect()
}

fn has_glyph(database: &Database, id: ID, wanted: char) -> bool {
    let outline = database.with_face_data(id, |data, index| {
        let font = FontRef::from_index(data, index).ok()?;
        let glyph = font.charmap().map(wanted)?;
        font.outline_glyphs().get(glyph).map(|_| ())
    });
    outline.flatten().is_some()
}

fn load(database: &Database, id: ID) -> Option<FontInsert> {
    let name = database.face(id)?.post_script_name.clone();
    let (bytes, index) = database.with_face_data(id, |data, index| (data.to_vec(), index))?;
    let mut data = FontData::from_owned(bytes);
    data.index = index;
    Some(FontInsert::new(&name, data, Vec::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latin_greek_and_symbols_are_covered() {
        let ctx = Context::default();
        install(&ctx);
        let _ = ctx.run_ui(egui::RawInput::default(), |ui| {
            let font = egui::FontId::new(15.0, strong_family());
            assert!(ui.ctx().fonts_mut(|fonts| fonts.has_glyphs(&font, "Aé ß Ωλ − · … → ✓")));
        });
    }
}
