//! What each chunker does for a reader, its edge cases, and its speed on very large and very odd texts.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::cell::Cell;
use std::time::{Duration, Instant};

use outcrop::chunk::{
    CharMeasure, ChunkError, ChunkInput, ChunkerConfig, ChunkerKind, Chunking, Measure, SegmentTable, Threshold,
    VectorSource, WordMeasure, boundaries, build, segments, similarities,
};
use outcrop::extract::{Span, SpanPlace};

const KINDS: [ChunkerKind; 10] = ChunkerKind::ALL;

fn config(kind: ChunkerKind, size: usize) -> ChunkerConfig {
    ChunkerConfig { kind, size, overlap: 0, ..ChunkerConfig::default() }
}

/// One direction for each topic word, so that a change of topic is a cosine of 0.
fn topic_vectors(texts: &[&str]) -> Vec<f32> {
    let vector = |text: &&str| match () {
        () if text.contains("sea") => [1.0, 0.0, 0.0],
        () if text.contains("tax") => [0.0, 1.0, 0.0],
        () => [0.0, 0.0, 1.0],
    };
    texts.iter().flat_map(vector).collect()
}

fn chunk_with(config: &ChunkerConfig, text: &str, spans: &[Span], measure: &dyn Measure) -> Chunking {
    let embed = |texts: &[&str]| Ok(topic_vectors(texts));
    let vectors = VectorSource { embed: Some(&embed), vectors: None };
    build(config).unwrap().chunk(&ChunkInput { text, spans, name: None, measure, vectors }).unwrap()
}

fn pieces<'a>(config: &ChunkerConfig, text: &'a str) -> Vec<&'a str> {
    let chunking = chunk_with(config, text, &[], &CharMeasure);
    chunking.chunks.iter().map(|chunk| &text[chunk.start..chunk.end]).collect()
}

#[test]
fn recursive_prefers_paragraphs_then_sentences_then_words() {
    let text = "First paragraph.\n\nSecond one here. It has two sentences.\n\nThird.";
    let recursive = config(ChunkerKind::Recursive, 40);
    let expected = ["First paragraph.", "Second one here. It has two sentences.", "Third."];
    assert_eq!(pieces(&recursive, text), expected);
    let recursive = config(ChunkerKind::Recursive, 22);
    let expected = ["First paragraph.", "Second one here.", "It has two sentences.", "Third."];
    assert_eq!(pieces(&recursive, text), expected);
    let recursive = config(ChunkerKind::Recursive, 12);
    assert_eq!(pieces(&recursive, "one two three four five"), ["one two", "three four", "five"]);
}

#[test]
fn recursive_uses_the_separators_it_is_given() {
    let mut recursive = config(ChunkerKind::Recursive, 12);
    recursive.separators = vec!["|".to_owned()];
    assert_eq!(pieces(&recursive, "alpha one|beta two|gamma"), ["alpha one|", "beta two|", "gamma"]);
}

#[test]
fn a_line_without_any_space_is_cut_at_the_cap_exactly() {
    let text = "x".repeat(100);
    // Structure divides evenly instead.
    for kind in KINDS.into_iter().filter(|kind| *kind != ChunkerKind::Structure) {
        let sizes: Vec<usize> = pieces(&config(kind, 30), &text).iter().map(|piece| piece.len()).collect();
        assert_eq!(sizes, [30, 30, 30, 10], "{kind:?}");
    }
}

#[test]
fn overlap_repeats_the_end_of_the_previous_chunk_at_a_word() {
    let text = "The quick brown fox jumps over the lazy dog and runs into the dark wood beyond the hill";
    let recursive = ChunkerConfig { overlap: 10, ..config(ChunkerKind::Recursive, 40) };
    let found = pieces(&recursive, text);
    assert!(found.len() >= 3);
    for pair in found.windows(2) {
        let repeated = (1..=10).rev().find(|&len| pair[1].len() > len && pair[0].ends_with(&pair[1][..len]));
        assert!(repeated.is_some_and(|len| len >= 3), "{pair:?}");
    }
}

#[test]
fn sentences_stay_whole() {
    let text = "Granite is hard. Chalk is soft. Dr. Ahn says so. 岩石很硬。水很软。";
    let sentence = config(ChunkerKind::Sentence, 36);
    assert_eq!(pieces(&sentence, text), ["Granite is hard. Chalk is soft.", "Dr. Ahn says so. 岩石很硬。水很软。"]);
}

#[test]
fn thai_without_sentences_falls_back_to_the_cap() {
    let text = "ภาษาไทยไม่มีการเว้นวรรคระหว่างคำ".repeat(20);
    let found = pieces(&config(ChunkerKind::Sentence, 100), &text);
    assert!(found.len() <= 9, "{}", found.len());
}

#[test]
fn markdown_never_crosses_a_heading_and_keeps_fences_whole() {
    let text = "# Rocks\n\nIntro text.\n\n```rust\nlet a = 1;\n\nlet b = 2;\n```\n\n## Sand\n\nFine.\n\n### Bare\n\n### Full\n\nText.";
    let found = pieces(&config(ChunkerKind::Markdown, 45), text);
    let expected = [
        "# Rocks\n\nIntro text.",
        "```rust\nlet a = 1;\n\nlet b = 2;\n```",
        "## Sand\n\nFine.",
        "### Bare\n\n### Full\n\nText.",
    ];
    assert_eq!(found, expected);
}

#[test]
fn markdown_follows_the_sections_of_the_document() {
    let text = "Opening words.\nChapter one\nBody one.\nChapter two\nBody two.";
    let section =
        |start: usize, end: usize, name: &str| Span { start, end, place: SpanPlace::Section(vec![name.to_owned()]) };
    let spans = [section(15, 37, "Chapter one"), section(37, 58, "Chapter two")];
    let chunking = chunk_with(&config(ChunkerKind::Markdown, 500), text, &spans, &CharMeasure);
    let found: Vec<&str> = chunking.chunks.iter().map(|chunk| &text[chunk.start..chunk.end]).collect();
    assert_eq!(found, ["Opening words.", "Chapter one\nBody one.", "Chapter two\nBody two."]);
}

const TOPICS: &str = "The sea is deep. The sea is cold. The tax is high. The tax is due. The tax is old.";

#[test]
fn semantic_cuts_where_the_topic_changes() {
    let semantic = ChunkerConfig { threshold: Threshold::Fixed(0.5), ..config(ChunkerKind::Semantic, 1000) };
    let chunking = chunk_with(&semantic, TOPICS, &[], &CharMeasure);
    assert_eq!(chunking.boundaries.len(), 4);
    let [sea, tax] = chunking.chunks.as_slice() else {
        panic!("{:?}", chunking.chunks);
    };
    assert_eq!((sea.left_similarity, sea.right_similarity), (None, Some(0.0)));
    assert_eq!((tax.left_similarity, tax.right_similarity), (Some(0.0), None));
    assert!(TOPICS[tax.start..].starts_with("The tax"));
}

#[test]
fn the_automatic_threshold_finds_the_same_cut() {
    let chunking = chunk_with(&config(ChunkerKind::Semantic, 1000), TOPICS, &[], &CharMeasure);
    assert_eq!(chunking.chunks.len(), 2);
    assert!(chunking.threshold.is_some_and(|threshold| threshold > 0.3 && threshold < 0.4));
}

#[test]
fn threshold_zero_never_cuts_and_one_cuts_nearly_everywhere() {
    let text = "Alpha is first here. Beta comes second here. Gamma is third in line. Delta ends the list.";
    let count = segments(text).len();
    assert_eq!(count, 4);
    let opposed: Vec<f32> = (0..count).flat_map(|row| if row % 2 == 0 { [1.0, 0.0] } else { [-0.9, 0.1] }).collect();
    let chunks = |threshold| {
        let semantic = ChunkerConfig { threshold: Threshold::Fixed(threshold), ..config(ChunkerKind::Semantic, 1000) };
        let vectors = VectorSource { embed: None, vectors: Some(&opposed) };
        let input = ChunkInput { text, spans: &[], name: None, measure: &CharMeasure, vectors };
        build(&semantic).unwrap().chunk(&input).unwrap().chunks.len()
    };
    assert_eq!(chunks(0.0), 1);
    assert_eq!(chunks(1.0), count);
}

#[test]
fn threshold_zero_fills_to_the_cap() {
    let text = "The sea is deep. ".repeat(60);
    let semantic = ChunkerConfig { threshold: Threshold::Fixed(0.0), ..config(ChunkerKind::Semantic, 170) };
    assert_eq!(pieces(&semantic, &text).len(), 6);
}

#[test]
fn small_semantic_chunks_join_the_more_similar_side() {
    let text = "Alpha alpha alpha alpha alpha. Beta beta beta. Gamma gamma gamma gamma gamma gamma.";
    let vectors = [1.0, 0.0, 0.8, 0.6, 0.0, 1.0];
    let semantic =
        ChunkerConfig { threshold: Threshold::Fixed(1.0), min_size: 20, ..config(ChunkerKind::Semantic, 100) };
    let vectors = VectorSource { embed: None, vectors: Some(&vectors) };
    let input = ChunkInput { text, spans: &[], name: None, measure: &CharMeasure, vectors };
    let chunks = build(&semantic).unwrap().chunk(&input).unwrap().chunks;
    assert_eq!(chunks.len(), 2);
    assert!(text[chunks[0].start..chunks[0].end].ends_with("Beta beta beta."));
}

#[test]
fn no_one_or_two_sentences_give_numbers_or_nothing() {
    for (text, count) in [("", 0), ("  \n", 0), ("Only one sentence.", 1), ("The sea is deep. The tax is due.", 1)] {
        let chunking = chunk_with(&config(ChunkerKind::Semantic, 100), text, &[], &CharMeasure);
        assert_eq!(chunking.chunks.len(), count, "{text:?}");
        assert!(chunking.threshold.is_some_and(f32::is_finite));
    }
}

#[test]
fn two_thousand_blank_lines_give_no_chunk() {
    for kind in KINDS {
        assert!(pieces(&config(kind, 50), &" \n".repeat(2000)).is_empty(), "{kind:?}");
        let text = format!("Start.{}End.", "\n".repeat(2000));
        assert!(pieces(&config(kind, 50), &text).len() <= 2, "{kind:?}");
    }
}

#[test]
fn vectors_come_from_exactly_one_source() {
    let semantic = build(&config(ChunkerKind::Semantic, 100)).unwrap();
    let embed = |texts: &[&str]| Ok(topic_vectors(texts));
    let vectors = topic_vectors(&[""; 5]);
    let chunk =
        |vectors| semantic.chunk(&ChunkInput { text: TOPICS, spans: &[], name: None, measure: &CharMeasure, vectors });
    let both = VectorSource { embed: Some(&embed), vectors: Some(&vectors) };
    assert_eq!(chunk(both), Err(ChunkError::VectorSource("both")));
    assert_eq!(chunk(VectorSource::default()), Err(ChunkError::VectorSource("neither")));
    assert!(chunk(VectorSource { embed: None, vectors: Some(&vectors) }).is_ok());
    let short = VectorSource { embed: None, vectors: Some(&vectors[1..]) };
    assert!(matches!(chunk(short), Err(ChunkError::Vectors(_))));
}

#[test]
fn segments_are_embedded_in_one_batch() {
    let calls = Cell::new(0);
    let embed = |texts: &[&str]| {
        calls.set(calls.get() + 1);
        Ok(topic_vectors(texts))
    };
    let vectors = VectorSource { embed: Some(&embed), vectors: None };
    let text = TOPICS.repeat(50);
    let input = ChunkInput { text: &text, spans: &[], name: None, measure: &CharMeasure, vectors };
    build(&config(ChunkerKind::Semantic, 100)).unwrap().chunk(&input).unwrap();
    assert_eq!(calls.get(), 1);
}

#[test]
fn a_failing_embedder_is_an_error_with_its_reason() {
    let embed = |_: &[&str]| Err("the model is gone".to_owned());
    let vectors = VectorSource { embed: Some(&embed), vectors: None };
    let input = ChunkInput { text: TOPICS, spans: &[], name: None, measure: &CharMeasure, vectors };
    let err = build(&config(ChunkerKind::Semantic, 100)).unwrap().chunk(&input).unwrap_err();
    assert!(err.to_string().contains("the model is gone"));
}

#[test]
fn any_chunker_shows_the_boundary_curve_when_vectors_are_given() {
    let texts: Vec<&str> = segments(TOPICS).into_iter().map(|segment| &TOPICS[segment]).collect();
    let vectors = topic_vectors(&texts);
    let source = VectorSource { embed: None, vectors: Some(&vectors) };
    let input = ChunkInput { text: TOPICS, spans: &[], name: None, measure: &CharMeasure, vectors: source };
    let chunking = build(&config(ChunkerKind::Recursive, 36)).unwrap().chunk(&input).unwrap();
    assert_eq!(chunking.boundaries, boundaries(TOPICS, &vectors).unwrap());
    assert_eq!(chunking.chunks[0].right_similarity, Some(0.0));
    assert_eq!(similarities(&vectors, 3), [1.0, 0.0, 1.0, 1.0]);
}

#[test]
fn bad_configurations_are_refused() {
    let mut bad = config(ChunkerKind::Recursive, 10);
    bad.overlap = 10;
    assert!(build(&bad).is_err_and(|err| err.to_string() == "overlap is 10 but must be less than size (10)"));
}

/// English-like prose with paragraphs and headings.
fn prose(num_bytes: usize) -> String {
    let paragraph = "## Layers\n\nThe layer that was laid down first lies deepest. Sand, silt and clay follow it, \
        each as old as the sea that left it there! Who reads them, reads time? Dr. Ahn does.\n\n";
    paragraph.repeat(num_bytes / paragraph.len() + 1)
}

fn assert_quick(what: &str, text: &str, measure: &dyn Measure) {
    for kind in KINDS {
        let clock = Instant::now();
        let chunking = chunk_with(&ChunkerConfig { overlap: 50, ..config(kind, 500) }, text, &[], measure);
        assert!(!chunking.chunks.is_empty());
        let elapsed = clock.elapsed();
        assert!(elapsed < Duration::from_secs(20), "{what}, {kind:?}: {elapsed:?}");
    }
}

#[test]
fn large_and_odd_texts_take_linear_time() {
    let tokens = WordMeasure::new(|word| word.len().div_ceil(4));
    assert_quick("5 MB of prose", &prose(5_000_000), &CharMeasure);
    assert_quick("5 MB of prose in tokens", &prose(5_000_000), &tokens);
    assert_quick("one word of 60 000 characters", &"x".repeat(60_000), &CharMeasure);
    assert_quick("one word of 60 000 characters in tokens", &"x".repeat(60_000), &tokens);
    assert_quick("one word of 5 MB", &"漢".repeat(1_700_000), &tokens);
    assert_quick("flags", &"🇩🇪".repeat(100_000), &CharMeasure);
    assert_quick("one grapheme", &format!("a{}", "\u{301}".repeat(500_000)), &CharMeasure);
    assert_quick("brackets after a full stop", &format!("End.{}", ") ".repeat(500_000)), &CharMeasure);
    assert_quick("blank", &format!("a{}b", " \n".repeat(500_000)), &CharMeasure);
}

#[test]
fn recutting_ten_thousand_segments_is_instant() {
    let text = prose(750_000);
    for measure in [&CharMeasure as &dyn Measure, &WordMeasure::new(|word: &str| word.len().div_ceil(4))] {
        let table = SegmentTable::new(&text, measure);
        let num_segments = table.segments().len();
        assert!(num_segments > 10_000, "{num_segments}");
        let similarities: Vec<f32> = (1..num_segments).map(|index| (index * 7919 % 1000) as f32 / 1000.0).collect();
        let time = |threshold: f32| {
            let semantic = ChunkerConfig {
                threshold: Threshold::Fixed(threshold),
                min_size: 100,
                ..config(ChunkerKind::Semantic, 2000)
            };
            let clock = Instant::now();
            assert!(!table.cut(&text, &similarities, &semantic, measure).chunks.is_empty());
            clock.elapsed()
        };
        for threshold in [0.0, 0.2, 0.5, 1.0] {
            let best = (0..5).map(|_| time(threshold)).min().unwrap_or_default();
            assert!(best < Duration::from_millis(16), "threshold {threshold}: {best:?}");
        }
    }
}

#[test]
fn fixed_windows_ignore_sentences() {
    let text = "One two. Three four. Five six.";
    assert_eq!(pieces(&config(ChunkerKind::Fixed, 14), text), ["One two. Three", "four. Five", "six."]);
}

#[test]
fn structure_merges_small_sections_and_divides_large_ones_evenly() {
    let small = "# A\n\nShort.\n\n# B\n\nShort too.\n\n# C\n\nAlso short.";
    assert_eq!(pieces(&config(ChunkerKind::Structure, 300), small).len(), 1);
    let large = format!("# Long\n\n{}", "A sentence of some length stands here. ".repeat(11));
    let sizes: Vec<usize> =
        pieces(&config(ChunkerKind::Structure, 400), &large).iter().map(|piece| piece.len()).collect();
    assert_eq!(sizes.len(), 2);
    assert!(sizes[0].abs_diff(sizes[1]) <= 80, "{sizes:?}");
}

#[test]
fn clusters_hold_their_topics_together() {
    let found = pieces(&config(ChunkerKind::Cluster, 200), TOPICS);
    assert_eq!(found, ["The sea is deep. The sea is cold.", "The tax is high. The tax is due. The tax is old."]);
}

#[test]
fn paragraphs_stay_whole_and_overlap_in_words() {
    let text = "One two three four five six.\n\nSeven eight nine ten.\n\nEleven twelve thirteen fourteen fifteen.";
    let paragraph = ChunkerConfig { overlap: 2, ..config(ChunkerKind::Paragraph, 44) };
    assert_eq!(
        pieces(&paragraph, text),
        [
            "One two three four five six.",
            "five six.\n\nSeven eight nine ten.",
            "Eleven twelve thirteen fourteen fifteen.",
        ],
        "words are repeated where they fit"
    );
}

#[test]
fn max_min_follows_the_topic() {
    let threshold = Threshold::Fixed(0.5);
    let found = pieces(&ChunkerConfig { threshold, ..config(ChunkerKind::MaxMin, 500) }, TOPICS);
    assert_eq!(found, ["The sea is deep. The sea is cold.", "The tax is high. The tax is due. The tax is old."]);
}

#[test]
fn every_rule_of_the_semantic_chunker_finds_the_change_of_topic() {
    for threshold in
        [Threshold::Auto, Threshold::Deviations(1.5), Threshold::Percentile(75.0), Threshold::Interquartile(1.0)]
    {
        let found = pieces(&ChunkerConfig { threshold, ..config(ChunkerKind::Semantic, 500) }, TOPICS);
        assert_eq!(found.len(), 2, "{threshold}: {found:?}");
    }
}

const CODE: &str = "use std::fs;\n\n/// Reads a file.\nfn read(path: &str) -> String {\n    let text = \
    fs::read_to_string(path);\n    if text.is_err() {\n        return String::new();\n    }\n    \
    text.unwrap_or_default()\n}\n\n/// Says hello.\nfn hello() {\n    println!(\"hello\");\n}\n";

fn code_pieces(name: Option<&str>, size: usize) -> Vec<&'static str> {
    let vectors = VectorSource::default();
    let input = ChunkInput { text: CODE, spans: &[], name, measure: &CharMeasure, vectors };
    let chunking = build(&config(ChunkerKind::Code, size)).unwrap().chunk(&input).unwrap();
    chunking.chunks.iter().map(|chunk| &CODE[chunk.start..chunk.end]).collect()
}

#[test]
fn code_is_cut_between_functions_with_their_comments() {
    for name in [Some("main.rs"), None] {
        let found = code_pieces(name, 210);
        assert!(found.len() == 2 && found[1].starts_with("/// Says hello.\nfn hello()"), "{name:?}: {found:#?}");
    }
    let small = code_pieces(Some("main.rs"), 70);
    assert!(small.iter().any(|piece| piece.starts_with("if text.is_err() {") && piece.ends_with('}')), "{small:#?}");
}
