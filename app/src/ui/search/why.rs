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
        let columns = ["hit", "rerank", "fused", "vector", "words", "what became of it", "passage"];
        let mut table = TableBuilder::new(ui).id_salt("why_table").striped(true).column(Column::exact(32.0));
        for _ in 0..4 {
            table = table.column(Column::exact(84.0));
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
    let outcomes = results.outcomes.in_words().into_iter();
    let parts: Vec<String> = outcomes.map(|(number, what)| format!("{} {what}", format::count(number))).collect();
    format!("{} searched: {}", format::counted(results.searched, "passage"), parts.join(", "))
}

fn rank_text(rank: Option<usize>) -> String {
    rank.map_or_else(|| "–".to_owned(), |rank| rank.to_string())
}

fn near_ui(row: &mut TableRow<'_, '_>, near: &Near, results: &SearchResults, commands: &mut Vec<Command>) {
    let Considered { vector_rank, keyword_rank, first_rank, rerank_rank, final_rank, scores, fate, .. } =
        near.considered;
    row.col(|ui| {
        ui.label(mono(rank_text(final_rank)));
    });
    let stages = [
        (rerank_rank, scores.rerank),
        (Some(first_rank), scores.fused),
        (vector_rank, scores.vector),
        (keyword_rank, scores.keyword),
    ];
    for (rank, score) in stages {
        row.col(|ui| {
            let score = score.map_or_else(String::new, |score| format!("  {score:.3}"));
            ui.label(mono(rank_text(rank)));
            ui.label(mono(score).color(palette(ui).ink_secondary));
        });
    }
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
