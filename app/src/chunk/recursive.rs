//! The recursive chunker: separators from coarse to fine, filled up to the size.

use super::breaks::Breaks;
use super::graphemes::Graphemes;
use super::pack::{Limits, Packer, pack_sections};
use super::ruler::{Ruler, Scale};
use super::similarity::assemble;
use super::{ChunkError, ChunkInput, Chunker, ChunkerConfig, Chunking};

/// See [`super::ChunkerKind::Recursive`].
pub(super) struct Recursive(pub(super) ChunkerConfig);

impl Recursive {
    fn breaks(&self, text: &str, graphemes: &Graphemes) -> Breaks {
        if self.0.separators.is_empty() {
            Breaks::prose(text, graphemes)
        } else {
            Breaks::separators(text, graphemes, &self.0.separators)
        }
    }
}

impl Chunker for Recursive {
    fn config(&self) -> &ChunkerConfig {
        &self.0
    }

    fn chunk(&self, input: &ChunkInput<'_>) -> Result<Chunking, ChunkError> {
        let scale = Scale::new(input.text, input.measure);
        let packer = Packer {
            ruler: Ruler { text: input.text, measure: input.measure, scale: &scale },
            breaks: &self.breaks(input.text, &scale.graphemes),
            limits: Limits::from(&self.0),
        };
        let whole = 0..input.text.len();
        assemble(input, &pack_sections(&packer, &[whole]))
    }
}
