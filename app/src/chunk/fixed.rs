//! The fixed chunker: windows of the size at the nearest word, whatever the text says. The baseline that any other
//! chunker has to beat.

use super::breaks::Breaks;
use super::pack::{Limits, Packer, pack_sections};
use super::ruler::{Ruler, Scale};
use super::similarity::assemble;
use super::{ChunkError, ChunkInput, Chunker, ChunkerConfig, Chunking};

/// See [`super::ChunkerKind::Fixed`].
pub(super) struct Fixed(pub(super) ChunkerConfig);

impl Chunker for Fixed {
    fn config(&self) -> &ChunkerConfig {
        &self.0
    }

    fn chunk(&self, input: &ChunkInput<'_>) -> Result<Chunking, ChunkError> {
        let scale = Scale::new(input.text, input.measure);
        let packer = Packer {
            ruler: Ruler { text: input.text, measure: input.measure, scale: &scale },
            breaks: &Breaks::default(),
            limits: Limits::from(&self.0),
        };
        let whole = 0..input.text.len();
        assemble(input, &pack_sections(&packer, &[whole]))
    }
}
