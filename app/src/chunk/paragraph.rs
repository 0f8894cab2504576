//! The paragraph chunker: whole paragraphs, filled up to the size; only a paragraph larger than that is divided, at
//! its sentences. What is repeated from the chunk before is counted in words, whatever the size is counted in.

use super::breaks::Breaks;
use super::pack::{Limits, Packer, pack_sections};
use super::ruler::{Ruler, Scale};
use super::similarity::assemble;
use super::{ChunkError, ChunkInput, Chunker, ChunkerConfig, Chunking};

/// See [`super::ChunkerKind::Paragraph`].
pub(super) struct Paragraph(pub(super) ChunkerConfig);

impl Chunker for Paragraph {
    fn config(&self) -> &ChunkerConfig {
        &self.0
    }

    fn chunk(&self, input: &ChunkInput<'_>) -> Result<Chunking, ChunkError> {
        let scale = Scale::new(input.text, input.measure);
        let packer = Packer {
            ruler: Ruler { text: input.text, measure: input.measure, scale: &scale },
            breaks: &Breaks::paragraphs(input.text, &scale.graphemes),
            limits: Limits::from(&self.0),
        };
        let whole = 0..input.text.len();
        assemble(input, &pack_sections(&packer, &[whole]))
    }
}
