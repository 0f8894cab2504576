//! What cutting needs of an open document and no change of a threshold can alter: segment tables by unit, curves by
//! window. Made once, kept as long as the document is open.

use std::sync::Arc;

use crate::chunk::{self, CharMeasure, Measure, SegmentTable, Unit, WordMeasure};
use crate::embed::Embedder;

/// Counts tokens of words, each once.
pub(super) type TokenMeasure = WordMeasure<Box<dyn Fn(&str) -> usize + Send + Sync>>;

/// Sizes in either unit.
pub(super) struct Measures {
    tokens: TokenMeasure,
}

impl Measures {
    pub(super) fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self { tokens: WordMeasure::new(Box::new(move |word: &str| embedder.count_tokens(word))) }
    }

    pub(super) fn of(&self, unit: Unit) -> &dyn Measure {
        match unit {
            Unit::Chars => &CharMeasure,
            Unit::Tokens => &self.tokens,
        }
    }
}

/// Tables and curves of one document.
#[derive(Default)]
pub(super) struct Tables {
    by_unit: Vec<(Unit, Arc<SegmentTable>)>,
    curves: Vec<(usize, Arc<Vec<f32>>)>,
}

impl Tables {
    pub(super) fn table(&mut self, text: &str, unit: Unit, measure: &dyn Measure) -> Arc<SegmentTable> {
        if let Some((_, table)) = self.by_unit.iter().find(|(known, _)| *known == unit) {
            return Arc::clone(table);
        }
        let table = Arc::new(SegmentTable::new(text, measure));
        self.by_unit.push((unit, Arc::clone(&table)));
        table
    }

    /// Similarities with `window` segments on each side of a boundary.
    pub(super) fn curve(&mut self, vectors: &[f32], dims: usize, window: usize) -> Arc<Vec<f32>> {
        if let Some((_, curve)) = self.curves.iter().find(|(known, _)| *known == window) {
            return Arc::clone(curve);
        }
        let curve = Arc::new(chunk::smoothed_similarities(vectors, dims, window));
        self.curves.push((window, Arc::clone(&curve)));
        curve
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::HashEmbedder;

    #[test]
    fn tables_and_curves_are_made_once() {
        let text = "One sentence stands here. Another one follows it.";
        let measures = Measures::new(Arc::new(HashEmbedder));
        let mut tables = Tables::default();
        for unit in [Unit::Chars, Unit::Tokens] {
            let first = tables.table(text, unit, measures.of(unit));
            assert!(Arc::ptr_eq(&first, &tables.table(text, unit, measures.of(unit))));
        }
        let first = tables.curve(&[1.0, 0.0, 0.0, 1.0], 2, 1);
        assert!(Arc::ptr_eq(&first, &tables.curve(&[], 2, 1)));
        assert_eq!(first.len(), 1);
    }
}
