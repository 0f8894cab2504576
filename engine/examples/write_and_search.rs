//! Make a file, append rows, search, delete, compact, verify: the whole life of a vector file.
//!
//! `cargo run -p engine --example write_and_search`
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use engine::{FileSpec, Query, Searcher, SearcherOptions, VectorFile};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("colours.vec");

    // Ids are yours: any numbers that strictly increase over the life of the file.
    let mut file = VectorFile::create(&path, &FileSpec::new(3))?;
    let (red, orange, blue) = (101, 102, 103);
    file.append(&[red, orange, blue], &[1.0, 0.0, 0.0, /**/ 1.0, 0.6, 0.0, /**/ 0.0, 0.0, 1.0])?;

    // A searcher owns the threads (and the GPU, if there is one): make one and share it.
    let searcher = Searcher::new(&SearcherOptions::default())?;
    println!("searching on {}", searcher.backend_name());

    // A snapshot does not change, whatever the writer does next.
    let before = file.snapshot();
    let outcome = searcher.search(&before, &Query { k: 2, ..Query::new(&[0.9, 0.1, 0.0]) })?;
    for hit in &outcome.hits[0] {
        println!("id {} with cosine {:.4}", hit.id, hit.score);
    }

    file.delete(&[red])?;
    file.compact()?;
    println!("{} rows now, {} in the snapshot taken before", file.num_rows(), before.num_rows());

    let report = file.verify()?;
    println!("{} rows verified, {} defects", report.num_rows, report.damage.len());
    Ok(())
}
