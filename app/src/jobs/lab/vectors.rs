//! Segments of a document with their vectors, computed once: segments depend on the text alone.

use std::ops::Range;
use std::sync::Arc;

use crate::chunk;
use crate::library::Error;

/// Segments and, once they were needed, their vectors.
pub(super) struct SegmentVectors {
    segments: Vec<Range<usize>>,
    starts: Arc<Vec<usize>>,
    vectors: Option<Vec<f32>>,
}

impl SegmentVectors {
    /// The segments of `text`, without vectors.
    pub(super) fn of(text: &str) -> Self {
        let segments = chunk::segments(text);
        let starts = Arc::new(segments.iter().map(|segment| segment.start).collect());
        Self { segments, starts, vectors: None }
    }

    pub(super) fn num_segments(&self) -> usize {
        self.segments.len()
    }

    /// Where each segment starts.
    pub(super) fn starts(&self) -> Arc<Vec<usize>> {
        Arc::clone(&self.starts)
    }

    pub(super) fn floats(&self) -> Option<&[f32]> {
        self.vectors.as_deref()
    }

    /// Computes the vectors if they are not there.
    pub(super) fn fill(
        &mut self,
        text: &str,
        embed: impl FnOnce(&[&str]) -> Result<Vec<f32>, Error>,
    ) -> Result<(), Error> {
        if self.vectors.is_none() {
            let texts: Vec<&str> =
                self.segments.iter().map(|segment| text.get(segment.clone()).unwrap_or_default()).collect();
            self.vectors = Some(embed(&texts)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_computed_once() {
        let text = "One sentence stands here. Another one follows it.";
        let mut vectors = SegmentVectors::of(text);
        let mut calls = 0;
        for _ in 0..2 {
            let embed = |texts: &[&str]| {
                calls += 1;
                Ok(vec![1.0; texts.len()])
            };
            vectors.fill(text, embed).unwrap();
        }
        assert_eq!(calls, 1);
        assert_eq!(vectors.floats().map(<[f32]>::len), Some(vectors.num_segments()));
    }
}
