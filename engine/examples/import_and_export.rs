//! Vectors from NumPy and back: `numpy.save("in.npy", array)` there, `numpy.load("out.npy")` afterwards.
//!
//! `cargo run -p engine --example import_and_export -- in.npy rows.vec out.npy`
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::path::Path;

use engine::{FileSpec, VectorFile, VectorSource};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, vectors, output] = &arguments[..] else {
        return Err("expected IN.npy ROWS.vec OUT.npy (IN may be .fvecs too)".into());
    };
    let mut source = VectorSource::open(Path::new(input))?;
    println!("{} rows of {} dimensions", source.num_rows(), source.dims());

    // Neither side needs to fit in memory: rows are read and appended batch by batch.
    let mut file = VectorFile::create(Path::new(vectors), &FileSpec::new(source.dims() as u32))?;
    let num_rows = file.append_from(&mut source, 1)?;
    println!("{num_rows} rows under the ids 1 to {num_rows} in {vectors}");

    file.snapshot().write_npy(Path::new(output))?;
    println!("written back to {output}");
    Ok(())
}
