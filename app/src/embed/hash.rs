//! [`HashEmbedder`]: vectors from words alone, for when no model is installed.
//!
//! Feature hashing (Weinberger et al. 2009): every word, word pair and letter group falls into one of the
//! dimensions with a sign, both taken from its hash. Texts that share words are near; synonyms are not.
//! Everything is integer hashing and fixed-order `f64` sums, so that vectors are equal on every platform.

use unicode_segmentation::UnicodeSegmentation;

use super::pool::normalise;
use super::{EmbedError, Embedder, TextRole, TokenVectors};
use crate::progress::CancelToken;

const DIMS: usize = 384;
/// No forward pass, so no real limit; small enough that sums with it cannot overflow.
const WINDOW_TOKENS: usize = 1 << 20;
const CANCEL_STRIDE: usize = 64;

const WORD_WEIGHT: f64 = 1.0;
const SHORT_WORD_WEIGHT: f64 = 0.25;
const PAIR_WEIGHT: f64 = 0.5;
const LETTERS_WEIGHT: f64 = 0.25;
const LETTERS: usize = 4;

/// A 384-dimension embedder that needs no model.
#[derive(Clone, Copy, Debug, Default)]
pub struct HashEmbedder;

impl Embedder for HashEmbedder {
    fn name(&self) -> &'static str {
        "word hash (no model)"
    }

    fn fingerprint(&self) -> &'static str {
        "hash-384-v1"
    }

    fn dims(&self) -> usize {
        DIMS
    }

    fn count_tokens(&self, text: &str) -> usize {
        text.unicode_words().count()
    }

    fn window_tokens(&self) -> usize {
        WINDOW_TOKENS
    }

    fn embed(
        &self,
        texts: &[&str],
        _role: TextRole,
        cancel: &CancelToken,
        on_done: &mut dyn FnMut(usize),
    ) -> Result<Vec<f32>, EmbedError> {
        let mut rows = Vec::with_capacity(texts.len() * DIMS);
        for batch in texts.chunks(CANCEL_STRIDE) {
            if cancel.is_cancelled() {
                return Err(EmbedError::Cancelled);
            }
            for text in batch {
                rows.extend(embed_one(text));
            }
            on_done(rows.len() / DIMS);
        }
        Ok(rows)
    }

    fn token_vectors(&self, _: &[&str], _: TextRole, _: &CancelToken) -> Result<Option<Vec<TokenVectors>>, EmbedError> {
        Ok(None)
    }
}

fn embed_one(text: &str) -> Vec<f32> {
    let mut features = features(text);
    features.sort_unstable_by_key(|feature| (feature.hash, feature.weight.to_bits()));
    let mut sums = vec![0.0_f64; DIMS];
    for group in features.chunk_by(|a, b| a.hash == b.hash) {
        let weight = group[0].weight * (group.len() as f64).sqrt();
        let sign = if group[0].hash >> 63 == 0 { 1.0 } else { -1.0 };
        sums[(group[0].hash % DIMS as u64) as usize] += sign * weight;
    }
    let mut row: Vec<f32> = sums.iter().map(|sum| *sum as f32).collect();
    normalise(&mut row);
    row
}

struct Feature {
    hash: u64,
    weight: f64,
}

fn features(text: &str) -> Vec<Feature> {
    let words: Vec<String> = text.unicode_words().map(str::to_lowercase).collect();
    let mut features = Vec::with_capacity(words.len() * 4);
    for word in &words {
        features.push(feature(b'w', [word.as_str()], word_weight(word)));
        push_letters(word, &mut features);
    }
    for pair in words.windows(2) {
        let pair = [pair[0].as_str(), pair[1].as_str()];
        features.push(feature(b'p', pair, PAIR_WEIGHT));
    }
    if features.is_empty() {
        push_symbols(text, &mut features);
    }
    features
}

/// Words of one to three Latin letters are mostly grammar and would drown the rest.
fn word_weight(word: &str) -> f64 {
    if word.len() <= 3 && word.bytes().all(|byte| byte.is_ascii_alphabetic()) { SHORT_WORD_WEIGHT } else { WORD_WEIGHT }
}

/// Letter groups bring inflected forms of a word near each other.
fn push_letters(word: &str, features: &mut Vec<Feature>) {
    let starts: Vec<usize> = word.char_indices().map(|(at, _)| at).collect();
    if starts.len() <= LETTERS {
        return;
    }
    for (first, start) in starts.iter().enumerate().take(starts.len() - LETTERS + 1) {
        let end = starts.get(first + LETTERS).copied().unwrap_or(word.len());
        features.push(feature(b'l', [&word[*start..end]], LETTERS_WEIGHT));
    }
}

/// A text of signs without any word still gets a vector of its own.
fn push_symbols(text: &str, features: &mut Vec<Feature>) {
    for sign in text.graphemes(true).filter(|sign| !sign.trim().is_empty()) {
        features.push(feature(b's', [sign], WORD_WEIGHT));
    }
}

fn feature<const N: usize>(kind: u8, parts: [&str; N], weight: f64) -> Feature {
    let mut hash = fnv1a(0xcbf2_9ce4_8422_2325, &[kind]);
    for part in parts {
        hash = fnv1a(hash, part.as_bytes());
        hash = fnv1a(hash, &[0]);
    }
    Feature { hash: mix(hash), weight }
}

/// The FNV-1a hash, continued over `bytes`.
fn fnv1a(seed: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(seed, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The finaliser of `SplitMix64`: spreads FNV's weak high bits.
fn mix(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use super::*;

    fn embed(texts: &[&str]) -> Vec<Vec<f32>> {
        HashEmbedder
            .embed(texts, TextRole::Passage, &CancelToken::new(), &mut |_| ())
            .unwrap()
            .chunks(DIMS)
            .map(<[f32]>::to_vec)
            .collect()
    }

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn vectors_have_unit_length_and_blank_texts_none() {
        let rows = embed(&["the quick fox", " \n\t", "", "42", "!?", "駅の時刻表"]);
        for row in [0, 3, 4, 5] {
            assert!((cosine(&rows[row], &rows[row]) - 1.0).abs() < 1e-5, "{row}");
        }
        assert!(rows[1].iter().chain(&rows[2]).all(|value| *value == 0.0));
    }

    #[test]
    fn shared_words_and_word_forms_are_nearer_than_strangers() {
        let rows = embed(&["glaciers melt in summer", "a melting glacier", "quarterly tax report"]);
        assert!(cosine(&rows[0], &rows[1]) > cosine(&rows[0], &rows[2]) + 0.1);
    }

    const GOLDEN: &str = "ce9e6942290ab019";

    #[test]
    fn vectors_are_the_same_on_every_platform() {
        let row = &embed(&["Basalt cools slowly."])[0];
        let bytes: Vec<u8> = row.iter().flat_map(|value| value.to_le_bytes()).collect();
        let digest = blake3::hash(&bytes);
        assert_eq!(&digest.to_hex()[..16], GOLDEN);
    }

    #[test]
    fn a_vector_does_not_depend_on_its_neighbours() {
        let alone = embed(&["one text"]);
        let among = embed(&["another", "one text", "a third"]);
        assert_eq!(alone[0], among[1]);
    }

    #[test]
    fn cancel_stops_the_work() {
        let cancel = CancelToken::new();
        cancel.cancel();
        let outcome = HashEmbedder.embed(&["text"], TextRole::Query, &cancel, &mut |_| ());
        assert_eq!(outcome, Err(EmbedError::Cancelled));
    }
}
