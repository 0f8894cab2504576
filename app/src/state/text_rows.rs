//! A document's text broken into rows of one reading width, so that the window builds only what is visible and
//! can jump anywhere at once.
//!
//! Rows break at chunk starts and ends, so each row belongs to one layer (or to the overlap of several). Widths
//! come from a table, not from a shaper: kerning moves a line end by a few points, which a ragged edge hides.

use std::ops::Range;

use crate::chunk::Chunk;

/// Widths of characters and heights of rows, in points.
#[derive(Clone, Debug, PartialEq)]
pub struct RowMetrics {
    /// Advance of each ASCII character.
    pub ascii: [f32; 128],
    /// Advance of other narrow characters.
    pub narrow: f32,
    /// Advance of CJK and other full-width characters.
    pub wide: f32,
    /// Width of a row.
    pub row_width: f32,
    /// Height of a row of text.
    pub text_height: f32,
    /// Height of a row that opens a chunk.
    pub header_height: f32,
}

impl Default for RowMetrics {
    fn default() -> Self {
        Self { ascii: [8.0; 128], narrow: 8.0, wide: 15.0, row_width: 620.0, text_height: 22.0, header_height: 30.0 }
    }
}

impl RowMetrics {
    /// The byte of `line` that lies `distance` points from its left end.
    pub fn byte_at(&self, line: &str, distance: f32) -> usize {
        let mut right = 0.0;
        let found = line.char_indices().find(|(_, character)| {
            right += self.advance(*character);
            right > distance
        });
        found.map_or(line.len(), |(byte, _)| byte)
    }

    fn advance(&self, character: char) -> f32 {
        match character {
            '\t' => 4.0 * self.ascii[usize::from(b' ')],
            _ if character.is_ascii() => self.ascii[character as usize],
            _ if is_wide(character) => self.wide,
            _ => self.narrow,
        }
    }
}

/// What a row shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// The line that opens a chunk.
    Header,
    /// Text.
    Text,
}

/// A row of the text.
#[derive(Clone, Debug, PartialEq)]
pub struct TextRow {
    /// What it shows.
    pub kind: RowKind,
    /// Bytes of the document's text.
    pub bytes: Range<usize>,
    /// First chunk that it belongs to.
    pub chunk: usize,
    /// Chunks that it belongs to: more than one where chunks overlap.
    pub num_chunks: usize,
    /// Distance of its upper edge from the top of the text.
    pub top: f32,
}

/// All rows of a document under one chunking.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextRows {
    /// Rows from top to bottom.
    pub rows: Vec<TextRow>,
    /// Height of all rows.
    pub height: f32,
}

impl TextRows {
    /// Breaks `text` into rows. `chunks` as the chunk invariants promise: starts and ends strictly increase.
    pub fn build(text: &str, chunks: &[Chunk], metrics: &RowMetrics) -> Self {
        let mut builder = Builder { text, metrics, done: Self::default() };
        for (piece, active) in pieces(chunks) {
            if chunks[active.end - 1].start == piece.start {
                builder.push(RowKind::Header, piece.start..piece.start, active.end - 1..active.end);
            }
            builder.wrap(piece, &active);
        }
        builder.done
    }

    /// Position of the row at `top`, or of the last one above it.
    pub fn row_at(&self, top: f32) -> usize {
        self.rows.partition_point(|row| row.top <= top).saturating_sub(1)
    }

    /// Rows that a view from `top` to `bottom` shows.
    pub fn visible(&self, top: f32, bottom: f32) -> Range<usize> {
        self.row_at(top)..self.rows.partition_point(|row| row.top < bottom)
    }

    /// Upper edge of the row that holds `byte`; of its header where a chunk starts there.
    pub fn top_of(&self, byte: usize) -> f32 {
        let after = self.rows.partition_point(|row| row.bytes.start <= byte);
        let mut position = after.saturating_sub(1);
        while position > 0
            && self.rows[position].kind == RowKind::Text
            && self.rows[position - 1].kind == RowKind::Header
            && self.rows[position - 1].bytes.start == byte
        {
            position -= 1;
        }
        self.rows.get(position).map_or(0.0, |row| row.top)
    }
}

/// Pieces of text between neighbouring starts and ends of chunks, each with the chunks that hold it.
fn pieces(chunks: &[Chunk]) -> Vec<(Range<usize>, Range<usize>)> {
    let mut marks: Vec<usize> = chunks.iter().flat_map(|chunk| [chunk.start, chunk.end]).collect();
    marks.sort_unstable();
    marks.dedup();
    let mut pieces = Vec::with_capacity(marks.len());
    let (mut first, mut last) = (0, 0);
    for pair in marks.windows(2) {
        let piece = pair[0]..pair[1];
        while first < chunks.len() && chunks[first].end <= piece.start {
            first += 1;
        }
        last = last.max(first);
        while last < chunks.len() && chunks[last].start <= piece.start {
            last += 1;
        }
        if first < last {
            pieces.push((piece, first..last));
        }
    }
    pieces
}

struct Builder<'a> {
    text: &'a str,
    metrics: &'a RowMetrics,
    done: TextRows,
}

impl Builder<'_> {
    fn push(&mut self, kind: RowKind, bytes: Range<usize>, chunks: Range<usize>) {
        let top = self.done.height;
        self.done.height += match kind {
            RowKind::Header => self.metrics.header_height,
            RowKind::Text => self.metrics.text_height,
        };
        self.done.rows.push(TextRow { kind, bytes, chunk: chunks.start, num_chunks: chunks.len(), top });
    }

    /// Breaks one piece; blank lines at its ends are left out, blank lines in a row shown as one.
    fn wrap(&mut self, piece: Range<usize>, chunks: &Range<usize>) {
        let text = self.text;
        let mut blank_pending = false;
        let mut any_row = false;
        let mut start = piece.start;
        for line in text[piece].split_inclusive('\n') {
            let end = start + line.trim_end().len();
            if end == start || text[start..end].trim().is_empty() {
                blank_pending = any_row;
            } else {
                if blank_pending {
                    self.push(RowKind::Text, start..start, chunks.clone());
                }
                self.wrap_line(start..end, chunks);
                (blank_pending, any_row) = (false, true);
            }
            start += line.len();
        }
    }

    fn wrap_line(&mut self, line: Range<usize>, chunks: &Range<usize>) {
        let text = self.text;
        let (mut row_start, mut width) = (line.start, 0.0);
        let mut break_at: Option<(usize, f32)> = None;
        for (offset, character) in text[line.clone()].char_indices() {
            let position = line.start + offset;
            let advance = self.metrics.advance(character);
            if is_wide(character) && position > row_start {
                break_at = Some((position, width));
            }
            if width + advance > self.metrics.row_width && !character.is_whitespace() && position > row_start {
                let (cut, cut_width) = break_at.take().unwrap_or((position, width));
                self.push_trimmed(row_start..cut, chunks);
                (row_start, width) = (cut, width - cut_width);
            }
            width += advance;
            if character.is_whitespace() || character == '-' {
                break_at = Some((position + character.len_utf8(), width));
            }
        }
        self.push_trimmed(row_start..line.end, chunks);
    }

    fn push_trimmed(&mut self, bytes: Range<usize>, chunks: &Range<usize>) {
        let end = bytes.start + self.text[bytes.clone()].trim_end().len();
        self.push(RowKind::Text, bytes.start..end, chunks.clone());
    }
}

/// Characters of full width, between any two of which a line may break.
fn is_wide(character: char) -> bool {
    matches!(u32::from(character),
        0x1100..=0x115F | 0x2E80..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF
        | 0xFE30..=0xFE4F | 0xFF00..=0xFF60 | 0x1F300..=0x1FAFF | 0x20000..=0x3FFFD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chunk(start: usize, end: usize) -> Chunk {
        Chunk { start, end, left_similarity: None, right_similarity: None }
    }

    fn metrics(row_width: f32) -> RowMetrics {
        RowMetrics { row_width, ..RowMetrics::default() }
    }

    fn shown<'a>(text: &'a str, rows: &TextRows) -> Vec<&'a str> {
        let texts = rows.rows.iter().filter(|row| row.kind == RowKind::Text);
        texts.map(|row| &text[row.bytes.clone()]).collect()
    }

    #[test]
    fn lines_break_at_words_and_keep_every_letter() {
        let text = "one two three four\n\n\nfive";
        let rows = TextRows::build(text, &[chunk(0, text.len())], &metrics(80.0));
        assert_eq!(shown(text, &rows), ["one two", "three four", "", "five"]);
        assert_eq!(rows.rows[0].kind, RowKind::Header);
        assert!((rows.height - (30.0 + 4.0 * 22.0)).abs() < 1e-3);
    }

    #[test]
    fn long_words_and_cjk_break_anywhere() {
        let text = "abcdefghijklmnop 岩層の露頭を歩く";
        let rows = TextRows::build(text, &[chunk(0, text.len())], &metrics(80.0));
        assert_eq!(shown(text, &rows), ["abcdefghij", "klmnop 岩", "層の露頭を", "歩く"]);
    }

    #[test]
    fn overlaps_are_rows_of_their_own() {
        let text = "aaaa bbbb cccc";
        let rows = TextRows::build(text, &[chunk(0, 9), chunk(5, 14)], &metrics(800.0));
        let layers: Vec<_> = rows.rows.iter().map(|row| (row.kind, row.chunk, row.num_chunks)).collect();
        use RowKind::{Header, Text};
        assert_eq!(layers, [(Header, 0, 1), (Text, 0, 1), (Header, 1, 1), (Text, 0, 2), (Text, 1, 1)]);
        assert!((rows.top_of(5) - rows.rows[2].top).abs() < 1e-3);
        assert_eq!(rows.visible(0.0, 31.0), 0..2);
    }

    proptest! {
        #[test]
        fn rows_hold_all_non_blank_text_of_the_chunks(
            words in proptest::collection::vec("[a-zé語\n ]{1,9}", 1..40),
            cuts in proptest::collection::btree_set(0usize..40, 0..6),
            row_width in 20.0f32..200.0,
        ) {
            let text: String = words.concat();
            let mut starts: Vec<usize> = std::iter::once(0)
                .chain(cuts.iter().map(|cut| words.iter().take(*cut).map(String::len).sum()))
                .collect();
            starts.dedup();
            let ends = starts.iter().skip(1).copied().chain([text.len()]);
            let chunks: Vec<Chunk> = starts.iter().zip(ends).filter(|(start, end)| *start < end)
                .map(|(start, end)| chunk(*start, end)).collect();
            let rows = TextRows::build(&text, &chunks, &metrics(row_width));
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(letters(&shown(&text, &rows).concat()), letters(&text));
            prop_assert!(rows.rows.windows(2).all(|pair| pair[0].top < pair[1].top));
        }
    }
}
