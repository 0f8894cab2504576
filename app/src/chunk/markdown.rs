//! The markdown chunker: a chunk never crosses a heading, code fences and tables stay whole up to the cap.

use std::ops::Range;

use super::breaks::Breaks;
use super::graphemes::Graphemes;
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
        let ranges =
            with_sections(&self.0, input, |packer, sections| pack_sections(packer, &packer.merge_small(sections)));
        assemble(input, &ranges)
    }
}

/// Gives `pack` the sections of a document, bare headings joined to what follows, and a packer that keeps blocks whole.
pub(super) fn with_sections(
    config: &ChunkerConfig,
    input: &ChunkInput<'_>,
    pack: impl FnOnce(&Packer<'_>, &[Range<usize>]) -> Vec<Range<usize>>,
) -> Vec<Range<usize>> {
    let text = input.text;
    let scale = Scale::new(text, input.measure);
    let blocks = blocks(text);
    let packer = Packer {
        ruler: Ruler { text, measure: input.measure, scale: &scale },
        breaks: &Breaks::around_blocks(text, &scale.graphemes, &blocks),
        limits: Limits::from(config),
    };
    let starts = section_starts(text, input.spans, &blocks, &scale.graphemes);
    let sections = sections(text, &starts, &scale.graphemes);
    let sections = join_bare_headings(&packer, &sections, &starts);
    pack(&packer, &sections)
}

/// The text between one heading and the next, trimmed; blank ones left out.
fn sections(text: &str, starts: &[usize], graphemes: &Graphemes) -> Vec<Range<usize>> {
    let ends = starts.iter().copied().chain([text.len()]);
    let sections = [0].into_iter().chain(starts.iter().copied()).zip(ends);
    sections.map(|(start, end)| graphemes.trim(text, start..end)).filter(|section| !section.is_empty()).collect()
}

/// From the document's own sections where its reader found some, else from the text.
fn section_starts(text: &str, spans: &[Span], blocks: &[Range<usize>], graphemes: &Graphemes) -> Vec<usize> {
    let is_section = |span: &&Span| matches!(span.place, SpanPlace::Section(_));
    let mut starts: Vec<usize> = spans.iter().filter(is_section).map(|span| graphemes.floor(span.start)).collect();
    if starts.is_empty() {
        starts = headings(text, blocks).iter().map(|heading| graphemes.floor(heading.start)).collect();
    }
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// A heading with nothing under it goes with the section that follows, where the cap allows it.
fn join_bare_headings(packer: &Packer<'_>, sections: &[Range<usize>], starts: &[usize]) -> Vec<Range<usize>> {
    let ruler = packer.ruler;
    let is_bare = |section: &Range<usize>| {
        starts.binary_search(&section.start).is_ok() && !ruler.text[section.clone()].contains('\n')
    };
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(sections.len());
    let mut has_bare_end = false;
    for section in sections {
        match joined.last_mut() {
            Some(last) if has_bare_end && ruler.size(last.start..section.end) <= packer.limits.size => {
                last.end = section.end;
            }
            _ => joined.push(section.clone()),
        }
        has_bare_end = is_bare(section);
    }
    joined
}
