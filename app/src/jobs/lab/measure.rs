//! Sizes in the configured unit.

use crate::chunk::{CharMeasure, Measure, Unit};
use crate::embed::Embedder;

/// Counts characters, or tokens of an embedder.
pub(super) enum UnitMeasure<'a> {
    Chars,
    Tokens(&'a dyn Embedder),
}

impl<'a> UnitMeasure<'a> {
    pub(super) fn new(unit: Unit, embedder: &'a dyn Embedder) -> Self {
        match unit {
            Unit::Chars => Self::Chars,
            Unit::Tokens => Self::Tokens(embedder),
        }
    }
}

impl Measure for UnitMeasure<'_> {
    fn size(&self, text: &str) -> usize {
        match self {
            Self::Chars => CharMeasure.size(text),
            Self::Tokens(embedder) => embedder.count_tokens(text),
        }
    }
}
