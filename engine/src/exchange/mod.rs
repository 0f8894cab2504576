//! Vectors from and to the files of other programs: `.npy` (NumPy) and `.fvecs` (the corpora of
//! nearest-neighbour research).
//!
//! Read in batches, so that neither side needs to fit in memory. Neither format has ids: the rows of a source get
//! consecutive ones, and an export has the live rows in the order of [`Snapshot::ids`].
//!
//! Invariant: sizes in a header are believed only after they were checked against the file's length.

mod fvecs;
mod npy;

use std::path::{Path, PathBuf};

use half::f16;

use crate::error::Error;
use crate::file::{Disk, MAX_DIMS, Snapshot, VectorFile, rename_durably, sibling};

/// Bytes of a source that one append takes in.
const BATCH_BYTES: usize = 32 << 20;

/// A `.npy` or `.fvecs` file that is being read, row after row.
///
/// ```no_run
/// # fn main() -> Result<(), engine::Error> {
/// use engine::{FileSpec, VectorFile, VectorSource};
///
/// let mut source = VectorSource::open("embeddings.npy".as_ref())?;
/// let spec = FileSpec::new(source.dims() as u32);
/// let mut file = VectorFile::create("embeddings.vec".as_ref(), &spec)?;
/// let num_rows = file.append_from(&mut source, 1)?; // ids 1, 2, 3 …
/// # let _ = num_rows;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct VectorSource {
    disk: Disk,
    shape: Shape,
    next_row: u64,
}

/// What a header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    format: Format,
    num_rows: u64,
    dims: usize,
}

/// How a row lies in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// From this byte on, values alone.
    Npy { start: u64, value: Value },
    /// The number of dimensions before every row.
    Fvecs,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    F16,
    F32,
    F64,
}

impl Shape {
    fn row_bytes(&self) -> usize {
        match self.format {
            Format::Npy { value, .. } => self.dims * value.size_bytes(),
            Format::Fvecs => fvecs::row_bytes(self.dims),
        }
    }
}

impl Value {
    fn size_bytes(self) -> usize {
        match self {
            Self::F16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    fn decode(self, bytes: &[u8], values: &mut Vec<f32>) {
        match self {
            Self::F16 => values.extend(bytes.as_chunks().0.iter().map(|&value| f16::from_le_bytes(value).to_f32())),
            Self::F32 => values.extend(bytes.as_chunks().0.iter().map(|&value| f32::from_le_bytes(value))),
            Self::F64 => values.extend(bytes.as_chunks().0.iter().map(|&value| f64::from_le_bytes(value) as f32)),
        }
    }
}

impl VectorSource {
    /// Opens a file: `.npy` is told by its first bytes (two dimensions, C order, `<f2`, `<f4` or `<f8`), `.fvecs`
    /// by its name.
    ///
    /// # Errors
    /// If it is neither, or its header and its length do not fit together.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let disk = Disk::open(path, false)?;
        let shape = match npy::shape(&disk)? {
            Some(shape) => shape,
            None if path.extension().is_some_and(|extension| extension == "fvecs") => fvecs::shape(&disk)?,
            None => return Err(bad_source(path, "neither the first bytes of .npy nor a name that ends in .fvecs")),
        };
        if shape.dims == 0 || shape.dims > MAX_DIMS as usize {
            let reason = format!("{} dimensions, expected 1 to {MAX_DIMS}", shape.dims);
            return Err(bad_source(path, reason));
        }
        Ok(Self { disk, shape, next_row: 0 })
    }

    /// Values per row.
    pub fn dims(&self) -> usize {
        self.shape.dims
    }

    /// Rows in the file.
    pub fn num_rows(&self) -> u64 {
        self.shape.num_rows
    }

    /// The next rows, at most so many, one after the other; empty at the end.
    ///
    /// # Errors
    /// If the file is cut off or a row contradicts the first.
    pub fn read(&mut self, max_rows: usize) -> Result<Vec<f32>, Error> {
        let Shape { format, num_rows, dims } = self.shape;
        let count = (num_rows - self.next_row).min(max_rows as u64) as usize;
        let row_bytes = self.shape.row_bytes();
        let start = if let Format::Npy { start, .. } = format { start } else { 0 };
        let mut bytes = vec![0; count * row_bytes];
        self.disk.read_at(&mut bytes, start + self.next_row * row_bytes as u64)?;
        let mut values = Vec::with_capacity(count * dims);
        match format {
            Format::Npy { value, .. } => value.decode(&bytes, &mut values),
            Format::Fvecs => fvecs::decode(&self.disk.path, &bytes, dims, self.next_row, &mut values)?,
        }
        self.next_row += count as u64;
        Ok(values)
    }
}

impl VectorFile {
    /// Appends the rest of a source under the ids `first_id`, `first_id + 1` … and returns how many rows it had.
    ///
    /// Rows arrive in batches of about 32 MiB, each one commit: on an error those before it stay, and
    /// [`VectorFile::last_id`] says how far it went.
    ///
    /// # Errors
    /// As [`VectorFile::append`], with rows counted from the start of the source; as [`VectorSource::read`].
    pub fn append_from(&mut self, source: &mut VectorSource, first_id: u64) -> Result<u64, Error> {
        if source.dims() != self.dims() {
            let reason = format!("it has {} dimensions, expected the file's {}", source.dims(), self.dims());
            return Err(bad_source(&source.disk.path, reason));
        }
        let batch_rows = (BATCH_BYTES / (source.dims() * 4)).max(1);
        let start = source.next_row;
        loop {
            let done = source.next_row - start;
            let rows = source.read(batch_rows)?;
            if rows.is_empty() {
                return Ok(done);
            }
            let count = (rows.len() / source.dims()) as u64;
            let first = first_id.checked_add(done).filter(|first| first.checked_add(count).is_some());
            let first = first.ok_or_else(|| bad_source(&source.disk.path, "its ids would exceed 64 bits"))?;
            let ids: Vec<u64> = (first..first + count).collect();
            self.append(&ids, &rows).map_err(|err| from_start(err, start + done))?;
        }
    }
}

impl Snapshot {
    /// Writes the live rows as a `.npy` file of f32, replacing one that is there.
    ///
    /// # Errors
    /// If a row is damaged or the disk refuses.
    pub fn write_npy(&self, target: &Path) -> Result<(), Error> {
        self.write_rows(target, npy::header(self.num_live_rows(), self.dims()), &[])
    }

    /// Writes the live rows as a `.fvecs` file, replacing one that is there.
    ///
    /// # Errors
    /// As [`Snapshot::write_npy`].
    pub fn write_fvecs(&self, target: &Path) -> Result<(), Error> {
        self.write_rows(target, Vec::new(), &fvecs::row_header(self.dims()))
    }

    fn write_rows(&self, target: &Path, header: Vec<u8>, row_header: &[u8]) -> Result<(), Error> {
        self.check_len()?;
        let draft = Disk::create(&sibling(target, ".new"))?;
        draft.write_at(&header, 0)?;
        let mut written = header.len() as u64;
        let mut values = vec![0.0; self.dims()];
        let mut bytes = Vec::new();
        for index in 0..self.num_blocks() {
            let block = self.check_block(index)?;
            bytes.clear();
            for row in (0..block.num_rows).filter(|&row| !self.is_deleted(block.first_row + row as u64)) {
                block.read_row(row, &mut values);
                bytes.extend_from_slice(row_header);
                bytes.extend_from_slice(bytemuck::cast_slice(&values));
            }
            draft.write_at(&bytes, written)?;
            written += bytes.len() as u64;
        }
        draft.sync()?;
        rename_durably(&draft.path, target)
    }
}

fn bad_source(path: &Path, reason: impl Into<String>) -> Error {
    Error::BadSource { reason: reason.into(), path: PathBuf::from(path) }
}

/// Counts the row of an error from the start of the source.
fn from_start(err: Error, done: u64) -> Error {
    match err {
        Error::BadRow { row, dim, value, hint } => Error::BadRow { row: row + done as usize, dim, value, hint },
        other => other,
    }
}
