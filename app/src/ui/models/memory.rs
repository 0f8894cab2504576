//! What answering a question needs in memory, beside what is free.

use egui::Ui;

use crate::state::{AppState, MemoryNeeds};
use crate::ui::theme::{palette, secondary};
use crate::ui::widgets::format;

pub(super) fn memory_ui(ui: &mut Ui, state: &AppState) {
    if state.models.value().is_none() {
        return;
    }
    let generator_bytes = state.generator().map_or(0, |row| row.memory_bytes);
    let (sentence, is_enough) = needs(state.memory, generator_bytes);
    let text = secondary(sentence);
    let text = if is_enough { text } else { text.color(palette(ui).warning) };
    ui.label(text).on_hover_text("What is in memory already is no longer counted as free");
}

/// The needs in words, and whether there is room for them.
fn needs(memory: MemoryNeeds, generator_bytes: u64) -> (String, bool) {
    let MemoryNeeds { embedder_bytes, vectors_bytes, free_bytes } = memory;
    let sum = embedder_bytes.saturating_add(vectors_bytes).saturating_add(generator_bytes);
    let parts = [("embedder", embedder_bytes), ("answers", generator_bytes), ("vectors", vectors_bytes)];
    let parts = parts.map(|(word, bytes)| format!("{word} {}", format::bytes(bytes))).join(" + ");
    let needed = format!("Memory: {parts} = {}", format::bytes(sum));
    match free_bytes {
        Some(free) => (format!("{needed}, {} free", format::bytes(free)), sum <= free),
        None => (needed, true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_are_added_up_and_compared_with_what_is_free() {
        let memory =
            MemoryNeeds { embedder_bytes: 200_000_000, vectors_bytes: 50_000_000, free_bytes: Some(1_000_000_000) };
        let (sentence, is_enough) = needs(memory, 750_000_000);
        assert!(is_enough && sentence.contains(&format::bytes(1_000_000_000)), "{sentence}");
        assert!(sentence.contains("answers") && sentence.ends_with("free"), "{sentence}");
        assert!(!needs(memory, 750_000_001).1);
        assert!(needs(MemoryNeeds { free_bytes: None, ..memory }, u64::MAX).1, "where nobody says, nobody warns");
    }
}
