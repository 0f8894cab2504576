//! The invariants of chunking, for every chunker, over hostile Unicode and random configurations.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::ops::Range;

use outcrop::chunk::{
    CharMeasure, Chunk, ChunkInput, ChunkerConfig, ChunkerKind, Chunking, Measure, Threshold, Unit, VectorSource,
    WordMeasure, build,
};
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

const FRAGMENTS: &[&str] = &[
    "stone",
    "Stone",
    "a",
    "I",
    " ",
    " ",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
    "\u{a0}",
    "\u{3000}",
    "\u{2028}",
    ". ",
    "! ",
    "? ",
    ", ",
    "; ",
    ".",
    "…",
    "。",
    "！",
    "、",
    "Dr. ",
    "e.g. ",
    "Fig. 3",
    "3.14",
    "1. ",
    "- ",
    "# Title\n",
    "\n## Two\n",
    "```\n",
    "~~~\n",
    "| a | b |\n|---|---|\n",
    "===\n",
    "岩石",
    "地層が見える",
    "ภาษาไทยไม่มีเว้นวรรค",
    "שלום",
    "مرحبا؟ ",
    "e\u{301}",
    "\u{301}",
    " \u{301}",
    "\u{600}",
    "\u{200d}",
    "\u{200b}",
    "\u{feff}",
    "👩‍👩‍👧‍👦",
    "🇩🇪",
    "🇩",
    "🏽",
    "क्षि",
    "각",
    "https://example.org/a/very/long/path?with=a&query=too",
    "\u{0}",
    "𝔘𝔫𝔦",
    "ﬁ",
    "ß",
    "İ",
    "\u{1f3f4}\u{e0067}",
];

fn texts() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        12 => prop::sample::select(FRAGMENTS).prop_map(str::to_owned),
        2 => "[a-z]{1,12}",
        1 => any::<char>().prop_map(String::from),
        1 => Just("x".repeat(300)),
    ];
    prop::collection::vec(fragment, 0..120).prop_map(|fragments| fragments.concat())
}

fn configs() -> impl Strategy<Value = ChunkerConfig> {
    let kind = prop::sample::select(ChunkerKind::ALL.as_slice());
    let threshold = prop_oneof![
        Just(Threshold::Auto),
        (0.0_f32..=1.0).prop_map(Threshold::Fixed),
        (0.0_f32..=3.0).prop_map(Threshold::Deviations),
        (0.0_f32..=100.0).prop_map(Threshold::Percentile),
        (0.0_f32..=3.0).prop_map(Threshold::Interquartile),
        (0.0_f32..=100.0).prop_map(Threshold::Gradient),
    ];
    let separators = prop::sample::subsequence(vec!["\n\n", "\n# ", ". ", "。", " ", "\u{301}", "stone"], 0..4);
    let size = prop_oneof![1_usize..12, 10_usize..120, Just(5000)];
    (kind, size, 0.0_f64..1.0, 0.0_f64..=1.0, threshold, 1_usize..=4, separators).prop_map(
        |(kind, size, overlap, min_size, threshold, window, separators)| ChunkerConfig {
            kind,
            size,
            overlap: (size as f64 * overlap) as usize,
            min_size: (size as f64 * min_size) as usize,
            threshold,
            window,
            unit: Unit::Chars,
            separators: separators.into_iter().map(str::to_owned).collect(),
            cuts: Vec::new(),
        },
    )
}

/// A tokenizer that joins letters in pairs, whatever stands between words: sizes do not add up.
struct Pairs;

impl Measure for Pairs {
    fn size(&self, text: &str) -> usize {
        text.chars().count().div_ceil(2)
    }
}

/// A tokenizer for which a longer text can be smaller: `stone` is one token, its beginnings are many.
struct Uneven;

impl Measure for Uneven {
    fn size(&self, text: &str) -> usize {
        text.chars().count() - 4 * text.matches("stone").count() + 1
    }
}

/// Vectors that depend on the text alone: some alike, some opposed, some zero.
fn vectors(texts: &[&str]) -> Vec<f32> {
    let vector = |text: &&str| match text.len() % 5 {
        0 => [0.0, 0.0],
        1 => [-1.0, 0.0],
        2 => [1.0, 0.0],
        3 => [0.6, 0.8],
        _ => [0.0, 1.0],
    };
    texts.iter().flat_map(vector).collect()
}

/// Names of files whose grammars read the text, whatever it is.
const NAMES: [&str; 6] = ["a.rs", "a.py", "a.tsx", "a.cpp", "a.sh", "a.php"];

fn chunk(text: &str, config: &ChunkerConfig, measure: &dyn Measure) -> Chunking {
    let embed = |texts: &[&str]| Ok(vectors(texts));
    let name = Some(NAMES[text.len() % NAMES.len()]);
    let input =
        ChunkInput { text, spans: &[], name, measure, vectors: VectorSource { embed: Some(&embed), vectors: None } };
    build(config).unwrap().chunk(&input).unwrap()
}

fn check_ranges(text: &str, chunks: &[Chunk]) -> Result<(), TestCaseError> {
    let mut is_boundary = vec![false; text.len() + 1];
    text.grapheme_indices(true).for_each(|(at, _)| is_boundary[at] = true);
    is_boundary[text.len()] = true;
    for chunk in chunks {
        prop_assert!(chunk.start < chunk.end && chunk.end <= text.len(), "{chunk:?}");
        prop_assert!(is_boundary[chunk.start] && is_boundary[chunk.end], "inside a grapheme: {chunk:?}");
        prop_assert!(!text[chunk.start..chunk.end].trim().is_empty(), "blank: {chunk:?}");
    }
    for pair in chunks.windows(2) {
        prop_assert!(pair[0].start < pair[1].start && pair[0].end < pair[1].end, "not increasing: {pair:?}");
    }
    Ok(())
}

fn check_coverage(text: &str, chunks: &[Chunk]) -> Result<(), TestCaseError> {
    let mut covered = 0;
    let gap = |range: Range<usize>| text[range].trim().is_empty();
    for chunk in chunks {
        prop_assert!(chunk.start <= covered || gap(covered..chunk.start), "lost: {:?}", &text[covered..chunk.start]);
        covered = chunk.end;
    }
    prop_assert!(gap(covered..text.len()), "lost: {:?}", &text[covered..]);
    Ok(())
}

fn check_cap(text: &str, chunks: &[Chunk], cap: usize, measure: &dyn Measure) -> Result<(), TestCaseError> {
    for chunk in chunks {
        let piece = &text[chunk.start..chunk.end];
        let size = measure.size(piece);
        prop_assert!(size <= cap || piece.graphemes(true).count() == 1, "{size} over {cap}: {piece:?}");
    }
    Ok(())
}

fn check_similarities(chunking: &Chunking, kind: ChunkerKind) -> Result<(), TestCaseError> {
    let chunks = &chunking.chunks;
    let has_vectors = kind.needs_vectors();
    for (index, chunk) in chunks.iter().enumerate() {
        prop_assert_eq!(chunk.left_similarity.is_some(), has_vectors && index > 0);
        prop_assert_eq!(chunk.right_similarity.is_some(), has_vectors && index + 1 < chunks.len());
        let edges = [chunk.left_similarity, chunk.right_similarity];
        prop_assert!(edges.iter().flatten().all(|value| (-1.0..=1.0).contains(value)));
    }
    prop_assert!(chunking.threshold.is_none() || kind.has_threshold());
    prop_assert!(chunking.threshold.is_none_or(f32::is_finite));
    prop_assert!(chunking.boundaries.iter().all(|boundary| boundary.similarity.is_finite()));
    Ok(())
}

fn check(text: &str, config: &ChunkerConfig, measure: &dyn Measure) -> Result<(), TestCaseError> {
    let chunking = chunk(text, config, measure);
    check_ranges(text, &chunking.chunks)?;
    check_coverage(text, &chunking.chunks)?;
    check_cap(text, &chunking.chunks, config.size, measure)?;
    check_similarities(&chunking, config.kind)?;
    prop_assert_eq!(&chunk(text, config, measure), &chunking, "not repeatable");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn invariants_hold_in_characters(text in texts(), config in configs()) {
        check(&text, &config, &CharMeasure)?;
    }

    #[test]
    fn invariants_hold_in_tokens_of_words(text in texts(), config in configs()) {
        check(&text, &config, &WordMeasure::new(|word| word.len().div_ceil(3)))?;
    }

    #[test]
    fn invariants_hold_for_sizes_that_do_not_add_up(text in texts(), config in configs()) {
        check(&text, &config, &Pairs)?;
    }

    #[test]
    fn invariants_hold_for_sizes_that_are_not_even(text in texts(), config in configs()) {
        check(&text, &config, &Uneven)?;
    }

    #[test]
    fn invariants_hold_wherever_a_person_cuts(
        text in texts(),
        config in configs(),
        cuts in prop::collection::btree_set(0_usize..4000, 0..30),
    ) {
        let cuts = cuts.into_iter().collect();
        check(&text, &ChunkerConfig { kind: ChunkerKind::Manual, cuts, ..config }, &CharMeasure)?;
    }

    #[test]
    fn any_thresholds_and_similarities_give_valid_cuts(
        text in texts(),
        config in configs(),
        similarities in prop::collection::vec(-1.0_f32..=1.0, 0..40),
    ) {
        let segments = outcrop::chunk::segments(&text);
        let chunking = outcrop::chunk::cut(&text, &segments, &similarities, &config, &CharMeasure);
        check_ranges(&text, &chunking.chunks)?;
        check_coverage(&text, &chunking.chunks)?;
        check_cap(&text, &chunking.chunks, config.size, &CharMeasure)?;
    }
}
