//! Embeds each line of a text file with the installed model and appends the vectors to a `.vec` file: real
//! vectors for the engine's measurements. Goes on where it stopped; the ids are the line numbers, from 1.
//!
//! `cargo run -p app --example embed_lines -- LINES.txt VECTORS.vec`
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::path::Path;

use engine::{FileSpec, VectorFile};
use outcrop::CancelToken;
use outcrop::embed::{TextRole, open_installed};
use outcrop::library::home_folder;

/// Lines per append.
const BATCH_LINES: usize = 2000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [lines, vectors] = &arguments[..] else {
        return Err("expected LINES.txt VECTORS.vec".into());
    };
    let (embedder, note) = open_installed(&home_folder(None)?.join("models"));
    if let Some(note) = note {
        println!("{note}");
    }
    let text = std::fs::read_to_string(lines)?;
    let lines: Vec<&str> = text.lines().collect();
    let path = Path::new(vectors);
    let mut file = if path.exists() {
        VectorFile::open(path)?
    } else {
        VectorFile::create(path, &FileSpec::new(embedder.dims() as u32))?
    };
    let done = file.last_id().unwrap_or(0) as usize;
    for (batch, part) in lines[done.min(lines.len())..].chunks(BATCH_LINES).enumerate() {
        let first = done + batch * BATCH_LINES;
        let rows = embedder.embed(part, TextRole::Passage, &CancelToken::default(), &mut |_| {})?;
        let ids: Vec<u64> = (1..=part.len()).map(|line| (first + line) as u64).collect();
        file.append(&ids, &rows)?;
        println!("{} of {} lines", first + part.len(), lines.len());
    }
    Ok(())
}
