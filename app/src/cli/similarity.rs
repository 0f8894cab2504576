//! `outcrop similarity`: which chunks of a file are alike, without a library.

use serde::Serialize;

use super::Ending;
use super::args::SimilarityVerb;
use super::chunk::title;
use super::error::CliError;
use super::output::{expect_places, print_line, write_drawing, write_file};
use super::session::Session;
use crate::library::Previewer;
use crate::similarity::{HeatMap, cosine};

/// Pairs that are printed.
const SHOWN_PAIRS: usize = 10;

/// Two chunks and how alike they are, counted from 1.
#[derive(Serialize)]
struct Pair {
    first: usize,
    second: usize,
    cosine: f32,
}

/// Cuts and compares; prints the pairs that are most alike without being neighbours.
pub(super) fn run(session: &Session, verb: &SimilarityVerb) -> Result<Ending, CliError> {
    let config = verb.chunker.config()?;
    expect_places(verb.svg.iter().chain(&verb.png).chain(&verb.csv))?;
    let previewer = Previewer::open(&session.library_options(), &verb.file, &verb.read.options()?, &session.cancel)?;
    let preview = previewer.cut(&config, false)?;
    if let Some(note) = &preview.embedder_note {
        session.note(note);
    }
    let texts: Vec<&str> = preview.chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    let (vectors, dims) = previewer.embed(&texts)?;
    let heat = HeatMap::compute(&vectors, dims, &session.cancel, &|_| {});
    let heat = heat.ok_or_else(|| CliError::failed("comparing was stopped", "cancelled", None))?;
    write_drawing((verb.svg.as_deref(), verb.png.as_deref()), || heat.to_svg(&title(&verb.file)))?;
    if let Some(path) = &verb.csv {
        write_file(path, heat.to_csv().as_bytes())?;
    }
    let pairs = alike(&vectors, dims);
    session.print(&pairs, |pairs| {
        print_line(&format!("{} chunks; most alike, neighbours left out:", texts.len()));
        for Pair { first, second, cosine } in pairs {
            print_line(&format!("{cosine:.3}  chunk {first} and {second}"));
        }
    })?;
    Ok(Ending::Done)
}

/// The most similar pairs of chunks that are not next to each other.
fn alike(vectors: &[f32], dims: usize) -> Vec<Pair> {
    let rows: Vec<&[f32]> = vectors.chunks_exact(dims.max(1)).collect();
    let mut best: Vec<Pair> = Vec::new();
    for (first, row) in rows.iter().enumerate() {
        for (second, other) in rows.iter().enumerate().skip(first + 2) {
            let cosine = cosine(row, other);
            if best.len() < SHOWN_PAIRS || best.last().is_some_and(|last| cosine > last.cosine) {
                let place = best.partition_point(|pair| pair.cosine >= cosine);
                best.insert(place, Pair { first: first + 1, second: second + 1, cosine });
                best.truncate(SHOWN_PAIRS);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_alike_pairs_come_first_and_neighbours_are_left_out() {
        let vectors = [1.0, 0.0, 1.0, 0.01, 0.0, 1.0, 0.9, 0.1, 0.0, 1.0];
        let pairs = alike(&vectors, 2);
        let found: Vec<(usize, usize)> = pairs.iter().map(|pair| (pair.first, pair.second)).collect();
        assert_eq!(found[0], (3, 5));
        assert!(!found.contains(&(1, 2)) && found.contains(&(1, 4)));
        assert!(pairs.windows(2).all(|pair| pair[0].cosine >= pair[1].cosine));
        assert!(alike(&[], 2).is_empty());
    }
}
