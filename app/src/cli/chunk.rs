//! `outcrop chunk`: how a file splits, without a library.

use std::path::Path;

use super::Ending;
use super::args::ChunkVerb;
use super::error::CliError;
use super::json::ChunkJson;
use super::output::{expect_places, print_line, write_drawing, write_file};
use super::session::Session;
use crate::chunk::Unit;
use crate::chunk::stats::ChunkStats;
use crate::library::ChunkPreview;

/// Prints the chunks of a file and, if asked to, draws its boundary plot.
pub(super) fn run(session: &Session, verb: &ChunkVerb) -> Result<Ending, CliError> {
    expect_places(verb.svg.iter().chain(&verb.png).chain(&verb.csv))?;
    let preview = crate::library::preview_chunks(
        &session.library_options(),
        &verb.file,
        &verb.read.options()?,
        &verb.chunker.config()?,
        verb.svg.is_some() || verb.png.is_some(),
        &session.cancel,
    )?;
    if let Some(note) = &preview.embedder_note {
        session.note(note);
    }
    write_files(session, verb, &preview)?;
    let chunks: Vec<ChunkJson> = preview.chunks.iter().cloned().map(ChunkJson::from).collect();
    session.print(&chunks, |chunks| print_chunks(chunks, &preview))?;
    Ok(Ending::Done)
}

/// The plot and the table, where they were asked for.
fn write_files(session: &Session, verb: &ChunkVerb, preview: &ChunkPreview) -> Result<(), CliError> {
    write_drawing((verb.svg.as_deref(), verb.png.as_deref()), || preview.to_svg(&title(&verb.file)))?;
    for path in verb.svg.iter().chain(&verb.png) {
        session.note(&format!("boundary plot: {}", path.display()));
    }
    if let Some(path) = &verb.csv {
        write_file(path, preview.to_csv().as_bytes())?;
    }
    Ok(())
}

fn print_chunks(chunks: &[ChunkJson], preview: &ChunkPreview) {
    for chunk in chunks {
        print_line(&header(chunk));
        print_line(chunk.text.trim_end());
        print_line("");
    }
    print_line(&summary(preview));
}

fn summary(preview: &ChunkPreview) -> String {
    let ChunkStats { count, total, mean, median, min, max } = preview.stats;
    let unit = match preview.unit {
        Unit::Chars => "characters",
        Unit::Tokens => "tokens",
    };
    let threshold =
        preview.chunking.threshold.map(|threshold| format!(", threshold {threshold:.3}")).unwrap_or_default();
    format!("{count} chunks, {total} {unit}: mean {mean:.0}, median {median:.0}, min {min}, max {max}{threshold}")
}

pub(super) fn title(file: &Path) -> String {
    file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}

fn header(chunk: &ChunkJson) -> String {
    let mut parts = vec![format!("── chunk {}", chunk.index), format!("bytes {}–{}", chunk.start, chunk.end)];
    parts.push(format!("{} tokens", chunk.tokens));
    if let Some((first, last)) = chunk.pages {
        parts.push(if first == last { format!("p. {first}") } else { format!("p. {first}–{last}") });
    }
    if !chunk.heading.is_empty() {
        parts.push(chunk.heading.join(" › "));
    }
    if let Some(similarity) = chunk.left_similarity {
        parts.push(format!("similarity before {similarity:.2}"));
    }
    parts.join(" · ")
}
