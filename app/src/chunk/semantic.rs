//! The semantic chunker: cuts where the similarity of neighbouring segments falls below a threshold.
//!
//! Its parts are public so that a window can keep what is slow (segments, vectors, sizes) and repeat only the
//! cutting while a threshold is dragged: [`segments()`], one batch of embeddings, [`similarities()`], then
//! [`SegmentTable::cut`] as often as wanted.

use std::borrow::Cow;
use std::ops::Range;

use super::breaks::Breaks;
use super::merge::MergeRules;
use super::pack::{Limits, Packer};
use super::ruler::{Ruler, Scale};
use super::similarity::{chunks, curve, similarities_at, smoothed_similarities, vector_dims};
use super::threshold::Cuts;
use super::{
    ChunkError, ChunkInput, Chunker, ChunkerConfig, ChunkerKind, Chunking, Measure, VectorSource, cluster, max_min,
    segments,
};

/// See [`super::ChunkerKind::Semantic`].
pub(super) struct Semantic(pub(super) ChunkerConfig);

impl Chunker for Semantic {
    fn config(&self) -> &ChunkerConfig {
        &self.0
    }

    fn chunk(&self, input: &ChunkInput<'_>) -> Result<Chunking, ChunkError> {
        let table = SegmentTable::new(input.text, input.measure);
        let vectors = source_vectors(input.text, table.segments(), &input.vectors)?;
        let dims = vector_dims(table.segments().len(), &vectors)?;
        let similarities = smoothed_similarities(&vectors, dims, self.0.window);
        Ok(table.cut(input.text, &similarities, &self.0, input.measure))
    }
}

/// One vector for each segment, from whichever source was given.
pub(super) fn source_vectors<'a>(
    text: &str,
    segments: &[Range<usize>],
    source: &VectorSource<'a>,
) -> Result<Cow<'a, [f32]>, ChunkError> {
    match (source.embed, source.vectors) {
        (Some(_), Some(_)) => Err(ChunkError::VectorSource("both")),
        (None, None) => Err(ChunkError::VectorSource("neither")),
        (None, Some(vectors)) => Ok(Cow::Borrowed(vectors)),
        (Some(_), None) if segments.is_empty() => Ok(Cow::Borrowed(&[])),
        (Some(embed), None) => {
            let texts: Vec<&str> = segments.iter().map(|segment| &text[segment.clone()]).collect();
            embed(&texts).map(Cow::Owned).map_err(ChunkError::Embed)
        }
    }
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

    /// The size of a range of `text`, from running sums where the measure adds up.
    pub fn size(&self, text: &str, range: Range<usize>, measure: &dyn Measure) -> usize {
        Ruler { text, measure, scale: &self.scale }.size(range)
    }

    /// Cuts `text`, the one the table was made from, with the measure it was made with.
    ///
    /// Cuts where a similarity lies under the threshold of `config`; merges what is smaller than its minimum with
    /// the more similar neighbour; fills up to its cap what is larger. A negative cosine counts as 0, so that a
    /// threshold of 0 cuts nowhere. Missing similarities count as 1, surplus ones are ignored.
    pub fn cut(&self, text: &str, similarities: &[f32], config: &ChunkerConfig, measure: &dyn Measure) -> Chunking {
        let similarities = &similarities[..similarities.len().min(self.segments.len().saturating_sub(1))];
        let Cuts { indices, threshold } = Cuts::of(similarities, config.threshold);
        let packer = self.packer(text, config, measure);
        let runs = self.merge_small(&packer, &runs(&indices, self.segments.len()), similarities);
        let chunking = self.assembled(&packer, &runs, similarities);
        Chunking { threshold, ..chunking }
    }

    /// Cuts `text` as the cluster or max-min chunker of `config` does, with one vector for each segment. `None` for
    /// other chunkers.
    ///
    /// # Errors
    /// The vectors do not fit the segments.
    pub fn group(
        &self,
        text: &str,
        vectors: &[f32],
        config: &ChunkerConfig,
        measure: &dyn Measure,
    ) -> Option<Result<Chunking, ChunkError>> {
        match config.kind {
            ChunkerKind::Cluster => Some(cluster::chunking(self, text, vectors, config, measure)),
            ChunkerKind::MaxMin => Some(max_min::chunking(self, text, vectors, config, measure)),
            _ => None,
        }
    }

    /// Chunks of given runs (ranges of segment indices); the small ones merged with their more similar neighbour.
    pub(super) fn assemble(
        &self,
        text: &str,
        runs: &[Range<usize>],
        similarities: &[f32],
        config: &ChunkerConfig,
        measure: &dyn Measure,
    ) -> Chunking {
        let packer = self.packer(text, config, measure);
        let runs = self.merge_small(&packer, runs, similarities);
        self.assembled(&packer, &runs, similarities)
    }

    /// Calls `choose` with a test for runs that are no larger than `cap`.
    pub(super) fn fitting<T>(
        &self,
        text: &str,
        measure: &dyn Measure,
        cap: usize,
        choose: impl FnOnce(&dyn Fn(&Range<usize>) -> bool) -> T,
    ) -> T {
        let ruler = Ruler { text, measure, scale: &self.scale };
        choose(&|run| self.run_size(&ruler, run) <= cap)
    }

    fn packer<'a>(&'a self, text: &'a str, config: &ChunkerConfig, measure: &'a dyn Measure) -> Packer<'a> {
        Packer {
            ruler: Ruler { text, measure, scale: &self.scale },
            breaks: &self.breaks,
            limits: Limits::from(config),
        }
    }

    fn assembled(&self, packer: &Packer<'_>, runs: &[Range<usize>], similarities: &[f32]) -> Chunking {
        let mut chunks = chunks(&self.pack(packer, runs));
        similarities_at(&self.segments, similarities, &mut chunks);
        Chunking { chunks, boundaries: curve(&self.segments, similarities), threshold: None }
    }

    fn merge_small(&self, packer: &Packer<'_>, runs: &[Range<usize>], similarities: &[f32]) -> Vec<Range<usize>> {
        let Limits { size, min_size, .. } = packer.limits;
        if min_size == 0 {
            return runs.to_vec();
        }
        let before = |run: usize| {
            let boundary = runs.get(run).and_then(|run| run.start.checked_sub(1));
            boundary.and_then(|boundary| similarities.get(boundary)).copied().unwrap_or(f32::NEG_INFINITY)
        };
        let rules = MergeRules {
            is_small: &|run| self.run_size(&packer.ruler, run) < min_size,
            fits: &|run| self.run_size(&packer.ruler, &run) <= size,
            prefers_left: &|run| run > 0 && before(run) >= before(run + 1),
        };
        rules.merge(runs)
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
