//! One writer appends in batches while readers search snapshots: nobody waits for anybody, and a
//! file may be larger than memory because rows are mapped, not loaded.
//!
//! `cargo run -p engine --example append_while_searching`
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::mpsc::sync_channel;

use engine::{Error, FileSpec, Query, Searcher, SearcherOptions, Snapshot, VectorFile};

const DIMS: usize = 64;
const ROWS_PER_BATCH: u64 = 2_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let mut file = VectorFile::create(&folder.path().join("stream.vec"), &FileSpec::new(DIMS as u32))?;
    let searcher = Searcher::new(&SearcherOptions::default())?;
    // Snapshots travel to the readers; a full channel would only slow the writer down.
    let (sender, receiver) = sync_channel::<Snapshot>(4);

    std::thread::scope(|scope| {
        let reader = scope.spawn(|| -> Result<(), Error> {
            for snapshot in receiver {
                let query = row(12_345.0);
                let outcome = searcher.search(&snapshot, &Query::new(&query))?;
                let best = outcome.hits[0][0];
                let num_rows = snapshot.num_rows();
                println!("of {num_rows:>6} rows the best is {} ({:.6})", best.id, best.score);
            }
            Ok(())
        });
        for batch in 0..10 {
            let ids: Vec<u64> = (0..ROWS_PER_BATCH).map(|row| batch * ROWS_PER_BATCH + row).collect();
            let rows: Vec<f32> = ids.iter().flat_map(|&id| row(id as f32)).collect();
            file.append(&ids, &rows)?;
            if sender.send(file.snapshot()).is_err() {
                break;
            }
        }
        drop(sender);
        reader.join().unwrap_or(Ok(()))
    })?;
    Ok(())
}

fn row(position: f32) -> Vec<f32> {
    (0..DIMS).map(|dim| (position * 0.001 * (dim + 1) as f32).cos()).collect()
}
