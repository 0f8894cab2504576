//! The structure chunker: headings first, small neighbouring sections merged, and each section that is larger than
//! the cap divided into parts of about the same size at its paragraphs and sentences.

use std::ops::Range;

use super::markdown::with_sections;
use super::merge::MergeRules;
use super::pack::{Limits, Packer};
use super::similarity::assemble;
use super::{ChunkError, ChunkInput, Chunker, ChunkerConfig, Chunking};

/// See [`super::ChunkerKind::Structure`].
pub(super) struct Structure(pub(super) ChunkerConfig);

/// Without a minimum of its own a section is small if it fills less than this part of the cap.
const SMALL_PART: usize = 3;
/// Parts of a divided section may be larger than their fair share by one in this many, to end at a good place.
const SLACK_PART: usize = 6;

impl Chunker for Structure {
    fn config(&self) -> &ChunkerConfig {
        &self.0
    }

    fn chunk(&self, input: &ChunkInput<'_>) -> Result<Chunking, ChunkError> {
        let ranges = with_sections(&self.0, input, |packer, sections| {
            let mut ranges = Vec::new();
            for section in merge_small(packer, sections) {
                balanced(packer, &section).pack(section, &mut ranges);
            }
            packer.merge_small(&ranges)
        });
        assemble(input, &ranges)
    }
}

/// Merges small sections with the one that follows, else with the one before.
fn merge_small(packer: &Packer<'_>, sections: &[Range<usize>]) -> Vec<Range<usize>> {
    let Limits { size, min_size, .. } = packer.limits;
    let small = if min_size > 0 { min_size } else { size / SMALL_PART };
    let rules = MergeRules {
        is_small: &|section| packer.ruler.size(section.clone()) < small,
        fits: &|merged| packer.ruler.size(merged) <= size,
        prefers_left: &|_| false,
    };
    rules.merge(sections)
}

/// The packer with a cap that divides the section evenly instead of leaving a short rest.
fn balanced<'a>(packer: &Packer<'a>, section: &Range<usize>) -> Packer<'a> {
    let Limits { size, overlap, min_size, .. } = packer.limits;
    let section_size = packer.ruler.size(section.clone());
    let step = (size - overlap).max(1);
    let num_parts = section_size.saturating_sub(overlap).div_ceil(step).max(1);
    let share = section_size.div_ceil(num_parts) + overlap;
    let cap = (share + share / SLACK_PART).clamp(1, size);
    let limits = Limits { size: cap, overlap: overlap.min(cap - 1), min_size: min_size.min(cap), ..packer.limits };
    Packer { limits, ..*packer }
}
