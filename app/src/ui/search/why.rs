//! Why these passages and not others: every candidate near the hits, its rank in each stage, and what became of it.

use egui::{RichText, ScrollArea, Ui};
use egui_extras::{Column, TableBuilder, TableRow};

use super::super::theme::{mono, palette, secondary, tokens};
use super::super::widgets::{format, link};
use crate::command::Command;
use crate::retrieve::{Considered, Fate, Near, SearchResults};
use crate::state::Passage;

const ROW_HEIGHT: f32 = 26.0;

pub(super) fn why_ui(ui: &mut Ui, results: &SearchResults, commands: &mut Vec<Command>) {
    ui.label(secondary(sentence(results)));
    ScrollArea::horizontal().id_salt("why").show(ui, |ui| {
        let columns = ["hit", "rerank", "fused", "vector", "words", "score", "what became of it", "passage"];
        let mut table = TableBuilder::new(ui).id_salt("why_table").striped(true);
        for _ in 0..6 {
            table = table.column(Column::exact(58.0));
        }
        let table = table.column(Column::exact(190.0)).column(Column::remainder().at_least(240.0).clip(true));
        let table = table.header(ROW_HEIGHT, |mut row| {
            for name in columns {
                row.col(|ui| {
                    ui.label(secondary(name).size(tokens().text.caption));
                });
            }
        });
        table.body(|body| {
            body.rows(ROW_HEIGHT, results.considered.len(), |mut row| {
                let near = &results.considered[row.index()];
                near_ui(&mut row, near, results, commands);
            });
        });
    });
}

/// What each leg found, and how many were left out for what.
fn sentence(results: &SearchResults) -> String {
    let count =
        |wanted: fn(&Considered) -> bool| results.considered.iter().filter(|near| wanted(&near.considered)).count();
    let legs =
        [(count(|one| one.vector_rank.is_some()), "by meaning"), (count(|one| one.keyword_rank.is_some()), "by words")];
    let cuts = [
        (count(|one| one.fate == Fate::BelowThreshold), "under the minimum score"),
        (count(|one| matches!(one.fate, Fate::Duplicate { .. })), "near-duplicates"),
        (count(|one| matches!(one.fate, Fate::SamePage { .. })), "of the same page"),
        (count(|one| one.fate == Fate::Beyond), "beyond the hits wanted"),
    ];
    let shown = legs.into_iter().chain(cuts).filter(|(number, _)| *number > 0);
    let parts: Vec<String> = shown.map(|(number, what)| format!("{} {what}", format::count(number))).collect();
    format!("{} searched; of those shown here {}", format::counted(results.searched, "passage"), parts.join(", "))
}

fn near_ui(row: &mut TableRow<'_, '_>, near: &Near, results: &SearchResults, commands: &mut Vec<Command>) {
    let Considered { vector_rank, keyword_rank, first_rank, rerank_rank, final_rank, scores, fate, .. } =
        near.considered;
    for rank in [final_rank, rerank_rank, Some(first_rank), vector_rank, keyword_rank] {
        row.col(|ui| {
            ui.label(mono(rank.map_or_else(|| "–".to_owned(), |rank| rank.to_string())));
        });
    }
    row.col(|ui| {
        let score = scores.rerank.or(scores.fused).or(scores.vector).or(scores.keyword);
        ui.label(mono(score.map_or_else(|| "–".to_owned(), |score| format!("{score:.3}"))));
    });
    row.col(|ui| {
        let colour = if fate == Fate::Kept { palette(ui).accent } else { palette(ui).ink_secondary };
        ui.label(RichText::new(results.fate_text(fate)).size(tokens().text.secondary).color(colour));
    });
    row.col(|ui| {
        let text = format!("{}  ·  {}", near.title, format::place(&near.chunk.place));
        if link(ui, text.trim_end_matches("  ·  ")).clicked() {
            commands.push(Command::Inspect(Box::new(Passage::of_near(near, &results.query))));
        }
    });
}
