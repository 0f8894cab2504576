//! The splitters of the published comparison, so that its figures can be reproduced: recursive, token and
//! cluster-semantic. They keep none of the invariants of [`crate::chunk`]; use them for comparison only.

use std::collections::HashMap;
use std::ops::Range;

/// Separators of the recursive splitter, coarse to fine; the empty one splits into characters.
const SEPARATORS: [&str; 7] = ["\n\n", "\n", ".", "?", "!", " ", ""];

/// The recursive splitter: cuts before each separator, then merges pieces up to the size.
pub struct Recursive<'a> {
    /// Largest sum of lengths.
    pub size: usize,
    /// Most that is repeated.
    pub overlap: usize,
    /// The tokenizer's count of a piece, with its special tokens if it always adds them.
    pub length: &'a dyn Fn(&str) -> usize,
}

/// A range and its length.
type Piece = (Range<usize>, usize);

impl Recursive<'_> {
    /// Byte ranges of the chunks, without white space at their ends.
    pub fn split(&self, text: &str) -> Vec<Range<usize>> {
        let mut run = Run { splitter: self, text, joint: (self.length)(""), known: HashMap::new(), chunks: Vec::new() };
        run.split(0..text.len(), &SEPARATORS);
        run.chunks
    }
}

/// One text being split.
struct Run<'a> {
    splitter: &'a Recursive<'a>,
    text: &'a str,
    /// Length of the empty text that joins two pieces: the special tokens, if there are any, count at every joint.
    joint: usize,
    known: HashMap<&'a str, usize>,
    chunks: Vec<Range<usize>>,
}

impl<'a> Run<'a> {
    fn length(&mut self, range: &Range<usize>) -> usize {
        let piece: &'a str = &self.text[range.clone()];
        *self.known.entry(piece).or_insert_with(|| (self.splitter.length)(piece))
    }

    fn split(&mut self, range: Range<usize>, separators: &[&str]) {
        let occurs = |separator: &&str| self.text[range.clone()].contains(*separator);
        let Some(index) = separators.iter().position(occurs) else {
            self.chunks.push(range);
            return;
        };
        let finer = &separators[index + 1..];
        let mut small: Vec<Piece> = Vec::new();
        for piece in cut_before(self.text, &range, separators[index]) {
            let length = self.length(&piece);
            if length < self.splitter.size {
                small.push((piece, length));
                continue;
            }
            self.merge(&std::mem::take(&mut small));
            if finer.is_empty() { self.chunks.push(piece) } else { self.split(piece, finer) }
        }
        self.merge(&small);
    }

    /// Fills chunks with consecutive pieces.
    fn merge(&mut self, pieces: &[Piece]) {
        let Recursive { size, overlap, .. } = *self.splitter;
        let (mut first, mut sum) = (0, 0);
        for (next, (_, length)) in pieces.iter().enumerate() {
            let with_next = |first: usize, sum: usize| sum + length + if first < next { self.joint } else { 0 };
            if first < next && with_next(first, sum) > size {
                emit(self.text, &mut self.chunks, &pieces[first..next]);
                while sum > overlap || (sum > 0 && with_next(first, sum) > size) {
                    sum -= pieces[first].1 + if next - first > 1 { self.joint } else { 0 };
                    first += 1;
                }
            }
            sum = with_next(first, sum);
        }
        emit(self.text, &mut self.chunks, &pieces[first..]);
    }
}

fn emit(text: &str, chunks: &mut Vec<Range<usize>>, pieces: &[Piece]) {
    if let (Some((first, _)), Some((last, _))) = (pieces.first(), pieces.last()) {
        let chunk = trimmed(text, first.start..last.end);
        if !chunk.is_empty() {
            chunks.push(chunk);
        }
    }
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let piece = &text[range.clone()];
    let start = range.start + (piece.len() - piece.trim_start().len());
    start..(start + piece.trim().len())
}

/// Pieces of the range, cut before every occurrence of the separator; characters for the empty one.
fn cut_before(text: &str, range: &Range<usize>, separator: &str) -> Vec<Range<usize>> {
    let piece = &text[range.clone()];
    let inner = piece.match_indices(separator).map(|(at, _)| range.start + at);
    let mut cuts: Vec<usize> = [range.start].into_iter().chain(inner).chain([range.end]).collect();
    cuts.dedup();
    cuts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// Windows of `size` tokens with a stride of `size - overlap`, the last one ending at the last token. `tokens` are
/// the byte ranges of the whole text's tokens.
pub fn token_windows(tokens: &[Range<usize>], size: usize, overlap: usize) -> Vec<Range<usize>> {
    let stride = size.saturating_sub(overlap).max(1);
    let mut windows = Vec::new();
    for start in (0..tokens.len()).step_by(stride) {
        let end = (start + size).min(tokens.len());
        windows.push(tokens[start].start..tokens[end - 1].end);
        if end == tokens.len() {
            break;
        }
    }
    windows
}

/// Each chunk as the comparison finds it again: without its final full stop, at the first place of the text where
/// it occurs.
pub fn found_again(text: &str, chunks: &[Range<usize>]) -> Vec<Range<usize>> {
    let find = |chunk: &Range<usize>| {
        let wanted = &text[chunk.clone()];
        let wanted = wanted.strip_suffix('.').unwrap_or(wanted);
        let start = text.find(wanted).unwrap_or(chunk.start);
        start..start + wanted.len()
    };
    chunks.iter().map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, size: usize, overlap: usize) -> Vec<&str> {
        let length = |piece: &str| piece.chars().count();
        let chunks = Recursive { size, overlap, length: &length }.split(text);
        chunks.into_iter().map(|chunk| &text[chunk]).collect()
    }

    #[test]
    fn separators_stay_at_the_head_of_the_next_piece() {
        assert_eq!(texts("aaa.bbb.ccc", 8, 0), ["aaa.bbb", ".ccc"]);
    }

    #[test]
    fn long_pieces_go_to_the_finer_separators() {
        assert_eq!(texts("one\n\ntwo three", 6, 0), ["one", "two", "three"]);
        assert_eq!(texts("abcdefgh", 3, 0), ["abc", "def", "gh"]);
    }

    #[test]
    fn overlap_repeats_whole_pieces() {
        assert_eq!(texts(" aa bb cc", 7, 3), ["aa bb", "bb cc"]);
    }

    #[test]
    fn special_tokens_count_at_every_joint() {
        let length = |piece: &str| piece.chars().count() + 2;
        let chunks = Recursive { size: 12, overlap: 0, length: &length }.split(" a b c d");
        assert_eq!(chunks, [1..4, 5..8]);
    }

    #[test]
    fn windows_end_at_the_last_token() {
        let tokens: Vec<Range<usize>> = (0..10).map(|index| index..index + 1).collect();
        assert_eq!(token_windows(&tokens, 4, 2), [0..4, 2..6, 4..8, 6..10]);
        assert_eq!(token_windows(&tokens, 4, 0), [0..4, 4..8, 8..10]);
        assert!(token_windows(&[], 4, 0).is_empty());
    }

    #[test]
    fn chunks_are_found_without_their_final_full_stop() {
        let text = "One. Two. One.";
        assert_eq!(found_again(text, &[0..4, 10..14]), [0..3, 0..3]);
    }
}
