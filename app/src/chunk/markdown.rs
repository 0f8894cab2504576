//! The markdown chunker: a chunk never crosses a heading, code fences and tables stay whole up to the cap.

use std::ops::Range;

use super::breaks::Breaks;
use super::graphemes::Graphemes;
use super::merge::MergeRules;
use super::outline::{blocks, headings};
use super::pack::{Limits, Packer, pack_sections};
use super::ruler::{Ruler, Scale};
use super::similarity::assemble;
use super::{ChunkError, ChunkInput, Chunker, ChunkerConfig, Chunking};
use crate::extract::{Span, SpanPlace};

/// See [`super::ChunkerKind::Markdown`].
pub(super) struct Markdown(pub(super) ChunkerConfig);

impl Chunker for Markdown {
    fn config(&self) -> &ChunkerConfig {
        &self.0
    }

    fn chunk(&self, input: &ChunkInput<'_>) -> Result<Chunking, ChunkError> {
        let text = input.text;
        let scale = Scale::new(text, input.measure);
        let blocks = blocks(text);
        let packer = Packer {
            ruler: Ruler {
                text,
                measure: input.measure,
                scale: &scale,
            },
            breaks: &Breaks::around_blocks(text, &scale.graphemes, &blocks),
            limits: Limits::from(&self.0),
        };
        let sections = sections(text, input.spans, &blocks, &scale.graphemes);
        let sections = join_bare_headings(&packer, &sections);
        let sections = packer.merge_small(&sections, &|_| true);
        assemble(input, &pack_sections(&packer, &sections))
    }
}

/// The text between one heading and the next, trimmed; blank ones left out.
fn sections(
    text: &str,
    spans: &[Span],
    blocks: &[Range<usize>],
    graphemes: &Graphemes,
) -> Vec<Range<usize>> {
    let starts = section_starts(text, spans, blocks, graphemes);
    let ends = starts.iter().copied().chain([text.len()]);
    let sections = [0].into_iter().chain(starts.iter().copied()).zip(ends);
    sections
        .map(|(start, end)| graphemes.trim(text, start..end))
        .filter(|section| !section.is_empty())
        .collect()
}

/// From the document's own sections where its reader found some, else from the text.
fn section_starts(
    text: &str,
    spans: &[Span],
    blocks: &[Range<usize>],
    graphemes: &Graphemes,
) -> Vec<usize> {
    let is_section = |span: &&Span| matches!(span.place, SpanPlace::Section(_));
    let mut starts: Vec<usize> = spans
        .iter()
        .filter(is_section)
        .map(|span| graphemes.floor(span.start))
        .collect();
    if starts.is_empty() {
        starts = headings(text, blocks)
            .into_iter()
            .map(|start| graphemes.floor(start))
            .collect();
    }
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// A heading with nothing under it goes with the section that follows, where the cap allows it.
fn join_bare_headings(packer: &Packer<'_>, sections: &[Range<usize>]) -> Vec<Range<usize>> {
    let rules = MergeRules {
        is_small: &|section| !packer.ruler.text[section.clone()].contains('\n'),
        fits: &|merged| packer.ruler.size(merged) <= packer.limits.size,
        prefers_left: &|_| false,
    };
    let Some((last, others)) = sections.split_last() else {
        return Vec::new();
    };
    let mut joined = rules.merge(others);
    joined.push(last.clone());
    joined
}
