//! Search among some of the rows: by ids that you know, or by a rule over ids.
//!
//! `cargo run -p engine --example filter`
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use engine::{FileSpec, Query, RowFilter, Searcher, SearcherOptions, VectorFile};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let mut file = VectorFile::create(&folder.path().join("points.vec"), &FileSpec::new(2))?;
    let ids: Vec<u64> = (0..360).collect();
    let rows: Vec<f32> = ids.iter().flat_map(|&degree| direction(degree as f32)).collect();
    file.append(&ids, &rows)?;

    let searcher = Searcher::new(&SearcherOptions::default())?;
    let snapshot = file.snapshot();
    let query = direction(44.8);

    let show = |name: &str, filter: Option<&RowFilter>| -> Result<(), engine::Error> {
        let outcome = searcher.search(&snapshot, &Query { k: 3, filter, ..Query::new(&query) })?;
        let degrees: Vec<u64> = outcome.hits[0].iter().map(|hit| hit.id).collect();
        println!("{name}: {degrees:?}");
        Ok(())
    };
    show("all rows", None)?;
    // Ids from a database: sorted ones are found fastest, unknown ones are passed over.
    show("some ids", Some(&RowFilter::from_ids(&snapshot, &[10, 40, 50, 300, 5000])))?;
    show("every tenth", Some(&RowFilter::from_predicate(&snapshot, |id| id % 10 == 0)))?;
    Ok(())
}

fn direction(degrees: f32) -> [f32; 2] {
    let (sine, cosine) = degrees.to_radians().sin_cos();
    [cosine, sine]
}
