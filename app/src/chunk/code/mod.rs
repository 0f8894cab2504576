//! The code chunker: whole functions and types where they fit, else their members, else the blocks inside them, and
//! lines at last. Small neighbours share a chunk up to the cap (Zhang et al. 2025, "cAST").
//!
//! The grammar only gives places to cut at; the packer keeps the invariants. A text of no known language is cut as
//! prose is.

mod language;
mod places;

use language::Language;

use super::breaks::Breaks;
use super::graphemes::Graphemes;
use super::pack::{Limits, Packer, pack_sections};
use super::ruler::{Ruler, Scale};
use super::{ChunkError, ChunkInput, Chunker, ChunkerConfig, Chunking};
use crate::chunk::similarity::assemble;

/// See [`super::ChunkerKind::Code`].
pub(super) struct Code(pub(super) ChunkerConfig);

/// Longer texts are cut as prose is: a parser needs about a hundred times their size in memory.
const LONGEST_BYTES: usize = 8 << 20;

impl Chunker for Code {
    fn config(&self) -> &ChunkerConfig {
        &self.0
    }

    fn chunk(&self, input: &ChunkInput<'_>) -> Result<Chunking, ChunkError> {
        let scale = Scale::new(input.text, input.measure);
        let packer = Packer {
            ruler: Ruler { text: input.text, measure: input.measure, scale: &scale },
            breaks: &breaks(input, &scale.graphemes),
            limits: Limits::from(&self.0),
        };
        let whole = 0..input.text.len();
        assemble(input, &pack_sections(&packer, &[whole]))
    }
}

fn breaks(input: &ChunkInput<'_>, graphemes: &Graphemes) -> Breaks {
    let language = Language::of(input.name, input.text).filter(|_| input.text.len() <= LONGEST_BYTES);
    let levels = language.and_then(|language| places::levels(input.text, language, graphemes));
    levels.map_or_else(
        || Breaks::prose(input.text, graphemes),
        |levels| Breaks::source_code(input.text, graphemes, levels),
    )
}
