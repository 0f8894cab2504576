//! Markdown: the source text as it stands, with its sections.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, MetadataBlockKind, Options, Parser, Tag, TagEnd};

use super::front_matter::{self, FrontMatter, Trouble};
use super::sections::SectionWriter;
use super::text::push_decoded;
use super::{DocumentKind, ExtractError, ExtractLimits, Extraction, Metadata, ReadOptions, TextBuilder};

/// Reads `bytes` as Markdown.
pub(super) fn read(bytes: &[u8], options: &ReadOptions, limits: &ExtractLimits) -> Result<Extraction, ExtractError> {
    let mut built = TextBuilder::new(limits);
    push_decoded(&mut built, bytes, options)?;
    let outline = Outline::of(built.text());
    mark_sections(&mut built, &outline.headings);
    built.title = outline.title.or_else(|| best_title(&outline.headings));
    built.metadata = outline.metadata;
    built.coverage.notes.extend(outline.trouble);
    built.finish(DocumentKind::Markdown)
}

struct Heading {
    level: HeadingLevel,
    title: String,
    start: usize,
}

/// What the parser says of a document's structure.
#[derive(Default)]
struct Outline {
    headings: Vec<Heading>,
    /// What the front matter says.
    metadata: Metadata,
    title: Option<String>,
    /// What is wrong with the front matter, for people.
    trouble: Option<String>,
    front_matter: String,
    open: Option<Heading>,
    /// The front matter, while it is read: its kind, and the line before its first.
    in_front_matter: Option<(MetadataBlockKind, usize)>,
    /// Quotes and lists around the current event; headings in them structure the quote, not the document.
    nesting: usize,
}

impl Outline {
    fn of(text: &str) -> Self {
        let options = Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
            | Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS
            | Options::ENABLE_HEADING_ATTRIBUTES
            | Options::ENABLE_TABLES;
        let mut outline = Self::default();
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            outline.note(text, event, range);
        }
        outline
    }

    fn note(&mut self, text: &str, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => self.nesting += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => self.nesting -= 1,
            Event::Start(Tag::Heading { level, .. }) if self.nesting == 0 => {
                self.open = Some(Heading { level, title: String::new(), start: range.start });
            }
            Event::End(TagEnd::Heading(_)) => {
                let closed = self.open.take();
                self.headings.extend(closed.filter(|heading| !heading.title.trim().is_empty()));
            }
            // The parser finds such blocks everywhere; between the slides of a deck they are text.
            Event::Start(Tag::MetadataBlock(kind)) if text[..range.start].trim().is_empty() => {
                self.in_front_matter = Some((kind, text[..range.start].matches('\n').count() + 1));
            }
            Event::End(TagEnd::MetadataBlock(_)) => self.end_block(),
            Event::Text(text) if self.in_front_matter.is_some() => self.front_matter.push_str(&text),
            Event::Text(text) | Event::Code(text) => self.push_title(&text),
            Event::SoftBreak | Event::HardBreak => self.push_title(" "),
            _ => {}
        }
    }

    fn end_block(&mut self) {
        let Some((kind, line_before)) = self.in_front_matter.take() else { return };
        let text = std::mem::take(&mut self.front_matter);
        let is_toml = kind == MetadataBlockKind::PlusesStyle;
        let FrontMatter { title, trouble } = front_matter::add(&mut self.metadata, &text, is_toml);
        self.title = title;
        self.trouble = trouble.map(|Trouble { line, what }| {
            format!("The properties at the head of the file are not read from line {} on: {what}.", line_before + line)
        });
    }

    fn push_title(&mut self, text: &str) {
        if let Some(heading) = &mut self.open {
            heading.title.push_str(text);
        }
    }
}

fn best_title(headings: &[Heading]) -> Option<String> {
    let top = headings.iter().min_by_key(|heading| heading.level)?;
    Some(top.title.trim().to_owned())
}

fn mark_sections(built: &mut TextBuilder, headings: &[Heading]) {
    let mut sections = SectionWriter::default();
    for heading in headings {
        sections.begin(built, heading.level as u8, &heading.title, heading.start);
    }
    sections.finish(built);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

    use super::*;
    use crate::extract::SpanPlace;

    fn read_text(text: &str) -> Extraction {
        read(text.as_bytes(), &ReadOptions::default(), &ExtractLimits::default()).unwrap()
    }

    fn sections(extraction: &Extraction) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for span in &extraction.spans {
            if let SpanPlace::Section(path) = &span.place {
                let text = extraction.text[span.start..span.end].to_owned();
                found.push((path.join(" > "), text));
            }
        }
        found
    }

    #[test]
    fn sections_reach_to_the_next_heading_and_name_their_ancestors() {
        let source = "intro\n\n# A\n\none\n\n## B\n\ntwo\n\n# C `code`\nthree";
        let extraction = read_text(source);
        assert_eq!(extraction.text, source);
        let paths: Vec<_> = sections(&extraction);
        assert_eq!(
            paths,
            [
                ("A".to_owned(), "# A\n\none\n\n".to_owned()),
                ("A > B".to_owned(), "## B\n\ntwo\n\n".to_owned()),
                ("C code".to_owned(), "# C `code`\nthree".to_owned()),
            ]
        );
        assert_eq!(extraction.title.as_deref(), Some("A"));
    }

    #[test]
    fn a_hash_in_a_code_fence_or_a_quote_is_no_heading() {
        let extraction = read_text("# Real\n\n```sh\n# comment\n```\n\n> # quoted\n\n    # indented\n");
        let found = sections(&extraction);
        assert_eq!(found.len(), 1);
        assert!(found[0].1.contains("# comment"));
    }

    #[test]
    fn front_matter_gives_the_title_and_no_heading() {
        let extraction = read_text("---\ntitle: \"The Guide\"\ntags: x\n---\n\nHead\n====\n\ntext\n");
        assert_eq!(extraction.title.as_deref(), Some("The Guide"));
        let found = sections(&extraction);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, "Head");
    }

    #[test]
    fn front_matter_that_cannot_be_read_is_named_and_the_text_stays() {
        let extraction = read_text("---\ntitle: Tides: spring\nauthor: Ada\n---\n\n# Head\n\ntext\n");
        let notes = &extraction.coverage.notes;
        assert!(notes.len() == 1 && notes[0].contains("from line 2 on"), "{notes:?}");
        assert_eq!(extraction.title.as_deref(), Some("Head"));
        assert!(read_text("---\ntitle: Tides\n---\n\ntext\n").coverage.notes.is_empty());
        let later = read_text("\n\n---\nauthor: Ada\ntitle: Tides: spring\n---\n");
        assert!(later.coverage.notes[0].contains("from line 5 on"), "{:?}", later.coverage.notes);
    }

    #[test]
    fn a_block_between_slides_is_no_front_matter() {
        let extraction = read_text("# Deck\n\none\n\n---\nNote: see: below\nauthor: Ada\n---\n\ntwo\n");
        assert!(
            extraction.coverage.notes.is_empty() && extraction.metadata == Some(Metadata::default()),
            "{extraction:?}"
        );
        assert_eq!(extraction.title.as_deref(), Some("Deck"));
        assert!(extraction.text.contains("see: below"));
    }

    #[test]
    fn skipped_levels_and_empty_headings_keep_the_path_right() {
        let extraction = read_text("### Deep\n\nx\n\n#\n\ny\n\n# Top\n\n### Under\n\nz\n");
        let paths: Vec<_> = sections(&extraction).into_iter().map(|s| s.0).collect();
        assert_eq!(paths, ["Deep", "Top", "Top > Under"]);
    }
}
