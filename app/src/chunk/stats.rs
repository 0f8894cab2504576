//! Numbers about a chunking, and a guess at them before the work.

use serde::{Deserialize, Serialize};

use super::{Chunk, ChunkerConfig, ChunkerKind, Measure, Threshold, Unit};

/// Sizes of the chunks of one document or of many, in the chunker's unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChunkStats {
    /// Number of chunks.
    pub count: usize,
    /// Sum of sizes, overlaps counted as often as they occur.
    pub total: usize,
    /// Average size, 0 without chunks.
    pub mean: f64,
    /// Middle size (of an even number the mean of the middle two), 0 without chunks.
    pub median: f64,
    /// Smallest size, 0 without chunks.
    pub min: usize,
    /// Largest size, 0 without chunks.
    pub max: usize,
}

impl ChunkStats {
    /// From sizes in any order.
    pub fn new(sizes: &[usize]) -> Self {
        let mut sorted = sizes.to_vec();
        sorted.sort_unstable();
        let total = sorted.iter().sum();
        Self {
            count: sorted.len(),
            total,
            mean: total as f64 / sorted.len().max(1) as f64,
            median: median(&sorted),
            min: sorted.first().copied().unwrap_or(0),
            max: sorted.last().copied().unwrap_or(0),
        }
    }
}

fn median(sorted: &[usize]) -> f64 {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        len if len % 2 == 1 => sorted[middle] as f64,
        _ => f64::midpoint(sorted[middle - 1] as f64, sorted[middle] as f64),
    }
}

/// The size of each chunk.
pub fn sizes(text: &str, chunks: &[Chunk], measure: &dyn Measure) -> Vec<usize> {
    chunks.iter().filter_map(|chunk| text.get(chunk.start..chunk.end)).map(|piece| measure.size(piece)).collect()
}

/// One bar of a histogram: how many sizes lie in `from..to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bar {
    /// Smallest size counted.
    pub from: usize,
    /// Smallest size no longer counted.
    pub to: usize,
    /// Number of chunks.
    pub count: usize,
}

/// Counts sizes in at most `num_bars` bars of equal width from 0 to past the largest. None without sizes.
pub fn histogram(sizes: &[usize], num_bars: usize) -> Vec<Bar> {
    let Some(&max) = sizes.iter().max() else {
        return Vec::new();
    };
    let width = (max + 1).div_ceil(num_bars.max(1));
    let mut bars: Vec<Bar> =
        (0..=max / width).map(|index| Bar { from: index * width, to: (index + 1) * width, count: 0 }).collect();
    for size in sizes {
        bars[size / width].count += 1;
    }
    bars
}

/// What chunking a text will probably give, guessed without doing it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Size of the text, in the chunker's unit.
    pub size: usize,
    /// Number of chunks, usually within a third of the truth.
    pub chunks: usize,
}

/// Chunks that are cut at sentences and paragraphs fill about this part of their cap.
const USUAL_FILL: f64 = 0.85;
/// Overlaps that start at a sentence or a word repeat about this part of what they may.
const USUAL_OVERLAP: f64 = 0.7;
/// Average sentence, in code points.
const SENTENCE_CHARS: f64 = 90.0;
/// Share of neighbours under mean minus one standard deviation.
const USUAL_CUTS: f64 = 0.16;
/// `WordPiece` tokens of an average English word.
const WORD_TOKENS: f64 = 1.35;

/// Guesses the number of chunks from the text's length and the chunker's parameters. Fast: one pass over the
/// text, no tokenizer, no embedder.
pub fn estimate(text: &str, config: &ChunkerConfig) -> Estimate {
    let chars = content_chars(text);
    let size = match config.unit {
        Unit::Chars => chars,
        Unit::Tokens => rough_tokens(text),
    };
    if size == 0 {
        return Estimate { size: 0, chunks: 0 };
    }
    let filled = filled_chunks(size as f64, config);
    let chunks = match config.kind {
        ChunkerKind::Semantic | ChunkerKind::Cluster | ChunkerKind::MaxMin => {
            filled.max(semantic_chunks(size, chars, config))
        }
        _ => filled,
    };
    Estimate { size, chunks: (chunks.round() as usize).max(1) }
}

/// Code points, runs of white space counted as one.
fn content_chars(text: &str) -> usize {
    let words: usize = text.split_whitespace().map(|word| word.chars().count() + 1).sum();
    words.saturating_sub(1)
}

fn rough_tokens(text: &str) -> usize {
    let tokens = text.split_whitespace().map(|word| {
        let wide = word.chars().filter(|letter| *letter >= '\u{2e80}').count();
        wide as f64 + if wide < word.chars().count() { WORD_TOKENS } else { 0.0 }
    });
    tokens.sum::<f64>().ceil() as usize
}

fn filled_chunks(size: f64, config: &ChunkerConfig) -> f64 {
    let cap = config.size as f64;
    if size <= cap {
        return 1.0;
    }
    let overlap = config.overlap as f64;
    let step = (cap * USUAL_FILL - overlap * USUAL_OVERLAP).max((cap - overlap) / 2.0).max(1.0);
    (size - overlap) / step
}

fn semantic_chunks(size: usize, chars: usize, config: &ChunkerConfig) -> f64 {
    let segments = (chars as f64 / SENTENCE_CHARS).max(1.0);
    let cut_share = match config.threshold {
        Threshold::Auto => USUAL_CUTS,
        Threshold::Fixed(value) => f64::from(value).clamp(0.0, 1.0).powi(2),
        Threshold::Deviations(number) => USUAL_CUTS.powf(f64::from(number).max(0.3)),
        Threshold::Interquartile(number) => (USUAL_CUTS / 2.0).powf(f64::from(number).max(0.3)),
        Threshold::Percentile(share) | Threshold::Gradient(share) => 1.0 - f64::from(share) / 100.0,
    };
    let cuts = 1.0 + segments * cut_share;
    let largest_count = size as f64 / config.min_size.max(1) as f64;
    cuts.min(largest_count.max(1.0))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;
    use crate::chunk::{CharMeasure, ChunkInput, VectorSource, build};

    #[test]
    fn stats_of_no_chunks_are_zero() {
        assert_eq!(ChunkStats::new(&[]), ChunkStats::default());
    }

    #[test]
    fn stats_are_those_of_the_sizes() {
        let stats = ChunkStats::new(&[4, 1, 3, 2]);
        assert_eq!((stats.count, stats.total, stats.min, stats.max), (4, 10, 1, 4));
        assert!((stats.mean - 2.5).abs() < 1e-9 && (stats.median - 2.5).abs() < 1e-9);
    }

    #[test]
    fn histograms_count_every_size_once() {
        let bars = histogram(&[0, 5, 9, 10, 19], 2);
        assert_eq!(bars, [Bar { from: 0, to: 10, count: 3 }, Bar { from: 10, to: 20, count: 2 }]);
        assert!(histogram(&[], 8).is_empty());
        assert_eq!(histogram(&[7, 7], 0).iter().map(|bar| bar.count).sum::<usize>(), 2);
    }

    #[test]
    fn estimates_are_near_the_truth() {
        let text = "The river carries sand to the sea, and the sea gives it back to the beach. ".repeat(400);
        for (size, overlap) in [(200, 0), (1000, 100), (500, 250), (100_000, 0)] {
            let config = ChunkerConfig { size, overlap, ..ChunkerConfig::default() };
            let input = ChunkInput {
                text: &text,
                spans: &[],
                name: None,
                measure: &CharMeasure,
                vectors: VectorSource::default(),
            };
            let count = build(&config).unwrap().chunk(&input).unwrap().chunks.len() as f64;
            let ratio = estimate(&text, &config).chunks as f64 / count;
            assert!((0.66..1.5).contains(&ratio), "size {size}, overlap {overlap}: {ratio}");
        }
        assert_eq!(estimate(" \n ", &ChunkerConfig::default()).chunks, 0);
    }
}
