//! Checking everything a file holds against its checksums and its own rules.

use crate::error::Error;
use crate::score;

use super::VectorFile;
use super::block::BlockView;

/// What [`VectorFile::verify`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Committed rows looked at.
    pub num_rows: u64,
    /// Rows that are not deleted.
    pub num_live_rows: u64,
    /// Blocks looked at.
    pub num_blocks: usize,
    /// What does not fit, in the order of the file; empty for a sound file.
    pub damage: Vec<Damage>,
}

impl VerifyReport {
    /// Whether nothing is damaged.
    pub fn is_sound(&self) -> bool {
        self.damage.is_empty()
    }
}

/// A defect in a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The block, from 0.
    pub block: usize,
    /// First row of the file concerned.
    pub row: u64,
    /// What does not fit.
    pub defect: String,
}

impl VectorFile {
    /// Reads every committed row and checks its checksum, its id, its values and its norm.
    ///
    /// Superblock and tombstones were checked when the file was opened.
    ///
    /// # Errors
    /// If the file was cut off. Damage inside it is part of the report.
    pub fn verify(&self) -> Result<VerifyReport, Error> {
        let snapshot = self.snapshot();
        snapshot.check_len()?;
        let mut report = VerifyReport {
            num_rows: snapshot.num_rows(),
            num_live_rows: snapshot.num_live_rows(),
            num_blocks: snapshot.num_blocks(),
            damage: Vec::new(),
        };
        let mut previous_id = None;
        for (index, block) in snapshot.blocks().enumerate() {
            verify_block(index, &block, &mut previous_id, &mut report.damage);
        }
        Ok(report)
    }
}

/// Reports at most one defect per block: after the first the rest says little.
fn verify_block(index: usize, block: &BlockView<'_>, previous_id: &mut Option<u64>, damage: &mut Vec<Damage>) {
    let mut values = vec![0.0; block.geometry.dims];
    for row in 0..block.num_rows {
        let id = block.ids()[row];
        let defect = row_defect(block, row, *previous_id, &mut values);
        *previous_id = Some(id);
        if let Some(defect) = defect {
            damage.push(Damage { block: index, row: block.first_row + row as u64, defect });
            *previous_id = block.ids().last().copied();
            return;
        }
    }
}

fn row_defect(block: &BlockView<'_>, row: usize, previous_id: Option<u64>, values: &mut [f32]) -> Option<String> {
    if !block.is_row_intact(row) {
        return Some("the checksum does not fit".to_owned());
    }
    let id = block.ids()[row];
    if previous_id.is_some_and(|previous| previous >= id) {
        return Some(format!("id {id} does not exceed the id before it"));
    }
    block.read_row(row, values);
    if !values.iter().all(|value| value.is_finite()) {
        return Some("a value is not finite".to_owned());
    }
    let (found, expected) = (block.norms()[row], score::norm(values));
    (found.to_bits() != expected.to_bits()).then(|| format!("the norm is {found}, expected {expected}"))
}
