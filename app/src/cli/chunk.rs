//! `outcrop chunk`: how a file splits, without a library.

use super::args::ChunkVerb;
use super::error::CliError;
use super::json::ChunkJson;
use super::output::print_line;
use super::session::Session;
use super::Ending;

/// Prints the chunks of a file and, if asked to, draws its boundary plot.
pub(super) fn run(session: &Session, verb: &ChunkVerb) -> Result<Ending, CliError> {
    let preview = crate::library::preview_chunks(
        &session.library_options(),
        &verb.file,
        &verb.chunker.config(),
        &session.cancel,
    )?;
    if let Some(note) = &preview.embedder_note {
        session.note(note);
    }
    if let Some(svg) = &verb.svg {
        std::fs::write(svg, preview.to_svg())
            .map_err(|err| CliError::failed("the plot could not be written", format!("{err}: {svg:?}"), None))?;
        session.note(&format!("boundary plot: {}", svg.display()));
    }
    let chunks: Vec<ChunkJson> = preview.chunks.iter().cloned().map(ChunkJson::from).collect();
    session.print(&chunks, |chunks| print_chunks(chunks, &preview))?;
    Ok(Ending::Done)
}

fn print_chunks(chunks: &[ChunkJson], preview: &crate::library::ChunkPreview) {
    for chunk in chunks {
        print_line(&header(chunk));
        print_line(chunk.text.trim_end());
        print_line("");
    }
    print_line(&preview.summary());
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
