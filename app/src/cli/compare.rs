//! `outcrop compare`: several chunkers on one file, without a library.

use std::fmt::Write as _;

use serde::Serialize;

use super::Ending;
use super::args::CompareVerb;
use super::chunk::title;
use super::error::CliError;
use super::output::{expect_places, print_line, print_table, write_drawing, write_file};
use super::session::Session;
use crate::chunk::ChunkerConfig;
use crate::chunk::compare::{Agreement, Cohesion};
use crate::chunk::stats::ChunkStats;
use crate::chunk::svg::{ComparisonPlot, LayerRow};
use crate::figure::html;
use crate::library::{ChunkPreview, Previewer};

/// Fewest and most chunkers side by side.
const COMPARED: std::ops::RangeInclusive<usize> = 2..=4;

/// One chunker of the comparison, for programs.
#[derive(Serialize)]
struct Row {
    chunker: String,
    stats: ChunkStats,
    agreement: Agreement,
    shared: f64,
    cohesion: Option<Cohesion>,
}

/// Cuts a file by every chunker, prints their numbers, and writes what was asked for.
pub(super) fn run(session: &Session, verb: &CompareVerb) -> Result<Ending, CliError> {
    let configs = configs(verb)?;
    expect_places(verb.svg.iter().chain(&verb.png).chain(&verb.csv).chain(&verb.html))?;
    let previewer = Previewer::open(&session.library_options(), &verb.file, &verb.read.options()?, &session.cancel)?;
    let previews = configs.iter().map(|config| previewer.cut(config, true)).collect::<Result<Vec<_>, _>>()?;
    if let Some(note) = &previews[0].embedder_note {
        session.note(note);
    }
    let names: Vec<String> = configs.iter().map(ToString::to_string).collect();
    let rows: Vec<Row> = names.iter().zip(&previews).map(|(name, preview)| row(name, preview, &previews[0])).collect();
    let name = title(&verb.file);
    write_drawing((verb.svg.as_deref(), verb.png.as_deref()), || drawing(&name, &names, &previews))?;
    if let Some(path) = &verb.csv {
        write_file(path, csv(&names, &previews).as_bytes())?;
    }
    if let Some(path) = &verb.html {
        write_file(path, report(&name, &names, &rows, &previews).as_bytes())?;
    }
    session.print(&rows, |rows| print_table(&table(rows)))?;
    if !session.global.json {
        print_line("shared: cuts in common with the first; cohesion: similarity inside chunks and at cuts");
    }
    Ok(Ending::Done)
}

fn configs(verb: &CompareVerb) -> Result<Vec<ChunkerConfig>, CliError> {
    if !COMPARED.contains(&verb.chunker.len()) {
        let found = verb.chunker.len();
        return Err(CliError::Usage(format!("{found} chunkers were given but 2 to 4 can be compared")));
    }
    let parse = |text: &String| text.parse().map_err(|err: crate::chunk::SpecError| CliError::Usage(err.to_string()));
    verb.chunker.iter().map(parse).collect()
}

fn row(name: &str, preview: &ChunkPreview, first: &ChunkPreview) -> Row {
    let agreement = Agreement::of(&preview.chunking.chunks, &first.chunking.chunks);
    Row {
        chunker: name.to_owned(),
        stats: preview.stats.clone(),
        agreement,
        shared: agreement.share(),
        cohesion: Cohesion::of(&preview.chunking.chunks, &first.chunking.boundaries),
    }
}

fn table(rows: &[Row]) -> Vec<Vec<String>> {
    let head = ["chunker", "chunks", "mean", "min", "max", "shared", "only here", "missing", "cohesion"];
    let cells = |row: &Row| {
        let Row { chunker, stats, agreement, shared, cohesion } = row;
        let cohesion = cohesion.map(|cohesion| format!("{:.2} / {:.2}", cohesion.inside, cohesion.at_cuts));
        vec![
            chunker.clone(),
            stats.count.to_string(),
            format!("{:.0}", stats.mean),
            stats.min.to_string(),
            stats.max.to_string(),
            format!("{:.0} %", 100.0 * shared),
            agreement.own.to_string(),
            agreement.missing.to_string(),
            cohesion.unwrap_or_default(),
        ]
    };
    std::iter::once(head.map(str::to_owned).to_vec()).chain(rows.iter().map(cells)).collect()
}

fn drawing(name: &str, names: &[String], previews: &[ChunkPreview]) -> String {
    let sizes: Vec<Vec<usize>> = previews.iter().map(ChunkPreview::sizes).collect();
    let rows: Vec<LayerRow<'_>> = names
        .iter()
        .zip(previews)
        .zip(&sizes)
        .map(|((name, preview), sizes)| LayerRow { name, chunks: &preview.chunking.chunks, sizes })
        .collect();
    ComparisonPlot { title: name, text: &previews[0].extraction.text, rows: &rows }.to_svg()
}

fn csv(names: &[String], previews: &[ChunkPreview]) -> String {
    let mut csv = "chunker,chunk,start,end,size\n".to_owned();
    for (name, preview) in names.iter().zip(previews) {
        for (index, (chunk, size)) in preview.chunking.chunks.iter().zip(preview.sizes()).enumerate() {
            // Writing to a string does not fail.
            let _ = writeln!(csv, "\"{name}\",{},{},{},{size}", index + 1, chunk.start, chunk.end);
        }
    }
    csv
}

/// Characters of text shown on each side of a cut.
const AROUND_CHARS: usize = 120;
/// Cuts shown in full.
const MOST_CUTS: usize = 400;

fn report(name: &str, names: &[String], rows: &[Row], previews: &[ChunkPreview]) -> String {
    let mut page = html::Page::new(&format!("Chunkers on {name}"));
    page.figure(&drawing(name, names, previews));
    page.table(&table(rows));
    page.heading("Cuts that not all share");
    let mut cuts: Vec<usize> =
        previews.iter().flat_map(|preview| preview.chunking.chunks.iter().skip(1)).map(|chunk| chunk.start).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let cutters = |cut: usize| -> Vec<&str> {
        let cuts_here = |preview: &ChunkPreview| preview.chunking.chunks.iter().any(|chunk| chunk.start == cut);
        names.iter().zip(previews).filter(|(_, preview)| cuts_here(preview)).map(|(name, _)| name.as_str()).collect()
    };
    let text = &previews[0].extraction.text;
    let differing = cuts.into_iter().map(|cut| (cut, cutters(cut))).filter(|(_, names)| names.len() < previews.len());
    for (cut, names) in differing.take(MOST_CUTS) {
        let before: Vec<char> = text[..cut].trim_end().chars().rev().take(AROUND_CHARS).collect();
        let before: String = before.into_iter().rev().collect();
        let after: String = text[cut..].chars().take(AROUND_CHARS).collect();
        page.paragraph(&[("…", &before), ("✂", &names.join(", ")), ("", &after), ("", "…")]);
    }
    page.finish()
}
