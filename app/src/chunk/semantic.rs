//! The semantic chunker: cuts where the similarity of neighbouring segments falls below a threshold.
//!
//! Its parts are public so that a window can keep what is slow (segments, vectors, sizes) and repeat only the
//! cutting while a threshold is dragged: [`segments()`], one batch of embeddings, [`similarities()`], then
//! [`SegmentTable::cut`] as often as wanted.

use std::ops::Range;

use super::breaks::Breaks;
use super::merge::MergeRules;
use super::pack::{Limits, Packer};
use super::ruler::{Ruler, Scale};
use super::similarity::{auto_threshold, chunks, curve, similarities, similarities_at, vector_dims};
use super::{ChunkError, ChunkInput, Chunker, ChunkerConfig, Chunking, Measure, Threshold, VectorSource, segments};

/// See [`super::ChunkerKind::Semantic`].
pub(super) struct Semantic(pub(super) ChunkerConfig);

impl Chunker for Semantic {
    fn config(&self) -> &ChunkerConfig {
        &self.0
    }

    fn chunk(&self, input: &ChunkInput<'_>) -> Result<Chunking, ChunkError> {
        let table = SegmentTable::new(input.text, input.measure);
        let similarities = source_similarities(input.text, table.segments(), &input.vectors)?;
        Ok(table.cut(input.text, &similarities, &self.0, input.measure))
    }
}

/// The similarities of neighbouring segments, from whichever source was given.
fn source_similarities(
    text: &str,
    segments: &[Range<usize>],
    source: &VectorSource<'_>,
) -> Result<Vec<f32>, ChunkError> {
    let embedded;
    let vectors = match (source.embed, source.vectors) {
        (Some(_), Some(_)) => return Err(ChunkError::VectorSource("both")),
        (None, None) => return Err(ChunkError::VectorSource("neither")),
        (None, Some(vectors)) => vectors,
        (Some(_), None) if segments.is_empty() => &[],
        (Some(embed), None) => {
            let texts: Vec<&str> = segments.iter().map(|segment| &text[segment.clone()]).collect();
            embedded = embed(&texts).map_err(ChunkError::Embed)?;
            &embedded
        }
    };
    Ok(similarities(vectors, vector_dims(segments.len(), vectors)?))
}

/// Everything about one text that cutting needs and that does not depend on the threshold. Owns no text.
#[derive(Clone, Debug)]
pub struct SegmentTable {
    segments: Vec<Range<usize>>,
    /// The size of the text up to the start and up to the end of each segment, where known.
    sums: Vec<(Option<usize>, Option<usize>)>,
    scale: Scale,
    breaks: Breaks,
}

impl SegmentTable {
    /// Finds the segments of `text` and measures it.
    pub fn new(text: &str, measure: &dyn Measure) -> Self {
        Self::with_segments(text, segments(text), measure)
    }

    fn with_segments(text: &str, segments: Vec<Range<usize>>, measure: &dyn Measure) -> Self {
        let scale = Scale::new(text, measure);
        let mut breaks = Breaks::sentences(text, &scale.graphemes);
        breaks.groups.insert(0, vec![segments.iter().map(|segment| segment.start).collect()]);
        let sum_at = |position| scale.sum_at_space(text, position, measure);
        let sums = segments.iter().map(|segment| (sum_at(segment.start), sum_at(segment.end))).collect();
        Self { segments, sums, scale, breaks }
    }

    /// The segments, one vector each.
    pub fn segments(&self) -> &[Range<usize>] {
        &self.segments
    }

    /// Cuts `text`, the one the table was made from, with the measure it was made with.
    ///
    /// Cuts where a similarity lies under the threshold of `config`; merges what is smaller than its minimum with
    /// the more similar neighbour; fills up to its cap what is larger. A negative cosine counts as 0, so that a
    /// threshold of 0 cuts nowhere. Missing similarities count as 1, surplus ones are ignored.
    pub fn cut(&self, text: &str, similarities: &[f32], config: &ChunkerConfig, measure: &dyn Measure) -> Chunking {
        let similarities = &similarities[..similarities.len().min(self.segments.len().saturating_sub(1))];
        let threshold = match config.threshold {
            Threshold::Auto => auto_threshold(similarities),
            Threshold::Fixed(value) => value,
        };
        let packer = Packer {
            ruler: Ruler { text, measure, scale: &self.scale },
            breaks: &self.breaks,
            limits: Limits::from(config),
        };
        let mut chunks = chunks(&self.pack(&packer, &self.merged_runs(&packer, similarities, threshold)));
        similarities_at(&self.segments, similarities, &mut chunks);
        Chunking { chunks, boundaries: curve(&self.segments, similarities), threshold: Some(threshold) }
    }

    /// Runs of segments (as ranges of their indices) between cuts, the small ones merged with their more similar
    /// neighbour.
    fn merged_runs(&self, packer: &Packer<'_>, similarities: &[f32], threshold: f32) -> Vec<Range<usize>> {
        let cuts: Vec<usize> =
            (0..similarities.len()).filter(|&index| similarities[index].max(0.0) < threshold).collect();
        let runs = runs(&cuts, self.segments.len());
        let Limits { size, min_size, .. } = packer.limits;
        if min_size == 0 {
            return runs;
        }
        let at_cut = |index: usize| cuts.get(index).map_or(f32::NEG_INFINITY, |&cut| similarities[cut]);
        let rules = MergeRules {
            is_small: &|run| self.run_size(&packer.ruler, run) < min_size,
            fits: &|run| self.run_size(&packer.ruler, &run) <= size,
            prefers_left: &|run| run > 0 && at_cut(run - 1) >= at_cut(run),
        };
        rules.merge(&runs)
    }

    fn run_size(&self, ruler: &Ruler<'_>, run: &Range<usize>) -> usize {
        match (self.sums[run.start].0, self.sums[run.end - 1].1) {
            (Some(before), Some(after)) => after - before,
            _ => ruler.size(self.bytes(run)),
        }
    }

    fn bytes(&self, run: &Range<usize>) -> Range<usize> {
        self.segments[run.start].start..self.segments[run.end - 1].end
    }

    fn pack(&self, packer: &Packer<'_>, runs: &[Range<usize>]) -> Vec<Range<usize>> {
        let mut ranges = Vec::with_capacity(runs.len());
        for run in runs {
            if packer.ruler.adds_up() && self.run_size(&packer.ruler, run) <= packer.limits.size {
                ranges.push(self.bytes(run));
            } else {
                packer.pack(self.bytes(run), &mut ranges);
            }
        }
        ranges
    }
}

/// A cut with index `i` lies between the segments `i` and `i + 1`.
fn runs(cuts: &[usize], num_segments: usize) -> Vec<Range<usize>> {
    let starts = [0].into_iter().chain(cuts.iter().map(|cut| cut + 1));
    let ends = cuts.iter().map(|cut| cut + 1).chain([num_segments]);
    starts.zip(ends).map(|(start, end)| start..end).filter(|run| !run.is_empty()).collect()
}

/// Cuts `text` once, between `segments` as [`segments()`] gave them; a window that cuts often keeps a
/// [`SegmentTable`] instead.
pub fn cut(
    text: &str,
    segments: &[Range<usize>],
    similarities: &[f32],
    config: &ChunkerConfig,
    measure: &dyn Measure,
) -> Chunking {
    SegmentTable::with_segments(text, segments.to_vec(), measure).cut(text, similarities, config, measure)
}
