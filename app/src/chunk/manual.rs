//! The edited chunking: cuts that a person set. As a configuration like any other it is stored with the document,
//! shown again and kept when the same file is ingested anew.

use std::ops::Range;

use super::breaks::Breaks;
use super::pack::{Limits, Packer, pack_sections};
use super::ruler::{Ruler, Scale};
use super::similarity::assemble;
use super::{ChunkError, ChunkInput, Chunker, ChunkerConfig, Chunking};

/// See [`super::ChunkerKind::Manual`].
pub(super) struct Manual(pub(super) ChunkerConfig);

impl Chunker for Manual {
    fn config(&self) -> &ChunkerConfig {
        &self.0
    }

    /// Cuts beyond the text cut nothing.
    fn chunk(&self, input: &ChunkInput<'_>) -> Result<Chunking, ChunkError> {
        let text = input.text;
        let scale = Scale::new(text, input.measure);
        let packer = Packer {
            ruler: Ruler { text, measure: input.measure, scale: &scale },
            breaks: &Breaks::prose(text, &scale.graphemes),
            limits: Limits::from(&self.0),
        };
        let mut cuts: Vec<usize> = self.0.cuts.iter().map(|&cut| scale.graphemes.floor(cut)).collect();
        cuts.dedup();
        let starts = [0].into_iter().chain(cuts.iter().copied());
        let ends = cuts.iter().copied().chain([text.len()]);
        let sections: Vec<Range<usize>> =
            starts.zip(ends).filter(|(start, end)| start < end).map(|(start, end)| start..end).collect();
        assemble(input, &pack_sections(&packer, &sections))
    }
}
