//! The sentence chunker: whole sentences, filled up to the size. A sentence larger than the cap, and text in
//! scripts that mark no sentences (Thai), is cut at clauses, white space or the cap itself.

use super::breaks::Breaks;
use super::pack::{Limits, Packer, pack_sections};
use super::ruler::{Ruler, Scale};
use super::similarity::assemble;
use super::{ChunkError, ChunkInput, Chunker, ChunkerConfig, Chunking};

/// See [`super::ChunkerKind::Sentence`].
pub(super) struct Sentence(pub(super) ChunkerConfig);

impl Chunker for Sentence {
    fn config(&self) -> &ChunkerConfig {
        &self.0
    }

    fn chunk(&self, input: &ChunkInput<'_>) -> Result<Chunking, ChunkError> {
        let scale = Scale::new(input.text, input.measure);
        let packer = Packer {
            ruler: Ruler { text: input.text, measure: input.measure, scale: &scale },
            breaks: &Breaks::sentences(input.text, &scale.graphemes),
            limits: Limits::from(&self.0),
        };
        let whole = 0..input.text.len();
        assemble(input, &pack_sections(&packer, &[whole]))
    }
}
