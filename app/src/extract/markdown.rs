//! Markdown: the source text as it stands, with its sections.

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

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
    open: Option<Heading>,
    /// Quotes and lists around the current event; headings in them structure the quote, not the document.
    nesting: usize,
}

impl Outline {
    fn of(text: &str) -> Self {
        let mut outline = Self::default();
        let body = outline.read_front_matter(text);
        // Not the parser's own metadata blocks: it finds them everywhere, and takes the slides of a deck for them.
        let options = Options::ENABLE_HEADING_ATTRIBUTES | Options::ENABLE_TABLES;
        for (event, range) in Parser::new_ext(&text[body..], options).into_offset_iter() {
            outline.note(event, body + range.start);
        }
        outline
    }

    /// Reads the properties at the head of `text`; gives where the rest begins.
    fn read_front_matter(&mut self, text: &str) -> usize {
        let Some(head) = front_matter::find(text) else { return 0 };
        let properties = &text[head.properties];
        let FrontMatter { title, trouble } = front_matter::add(&mut self.metadata, properties, head.is_toml);
        self.title = title;
        self.trouble = trouble.map(|Trouble { line, what }| {
            let line = head.lines_before + line;
            format!("The properties at the head of the file are not read from line {line} on: {what}.")
        });
        // As much as that is text with headings, between two thematic breaks.
        if properties.len() > front_matter::MOST_BYTES { 0 } else { head.end }
    }

    /// Takes in what the parser found at `start`.
    fn note(&mut self, event: Event<'_>, start: usize) {
        match event {
            Event::Start(Tag::BlockQuote(_) | Tag::List(_)) => self.nesting += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_)) => self.nesting -= 1,
            Event::Start(Tag::Heading { level, .. }) if self.nesting == 0 => {
                self.open = Some(Heading { level, title: String::new(), start });
            }
            Event::End(TagEnd::Heading(_)) => {
                let closed = self.open.take();
                self.headings.extend(closed.filter(|heading| !heading.title.trim().is_empty()));
            }
            Event::Text(text) | Event::Code(text) => self.push_title(&text),
            Event::SoftBreak | Event::HardBreak => self.push_title(" "),
            _ => {}
        }
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
    fn slides_between_breaks_keep_their_headings() {
        let deck = "---\ntitle: Talk\n---\n\n# One\n\na\n\n---\n# Two\n---\n\nb\n\n+++\n# Three\n+++\n\nc";
        let expected = [
            ("One".to_owned(), "# One\n\na\n\n---\n".to_owned()),
            ("Two".to_owned(), "# Two\n---\n\nb\n\n+++\n".to_owned()),
            ("Three".to_owned(), "# Three\n+++\n\nc".to_owned()),
        ];
        for text in [deck.to_owned(), deck.replace('\n', "\r\n")] {
            let extraction = read_text(&text);
            assert_eq!(extraction.text, deck);
            assert_eq!(sections(&extraction), expected);
            assert_eq!(extraction.title.as_deref(), Some("Talk"));
        }
    }

    #[test]
    fn a_break_at_the_head_that_nothing_closes_is_no_front_matter() {
        for text in ["---\ntitle: x\n\n# Head\n\ntext\n", "---\n\ntitle: x\n\n---\n# Head\n\ntext\n"] {
            let extraction = read_text(text);
            assert_eq!(extraction.metadata, Some(Metadata::default()), "{text:?}");
            assert_eq!(sections(&extraction), [("Head".to_owned(), "# Head\n\ntext".to_owned())]);
            assert!(extraction.coverage.notes.is_empty(), "{extraction:?}");
        }
    }

    #[test]
    fn broken_toml_is_named_by_its_line_and_read_up_to_it() {
        let extraction = read_text("\n+++\ntitle = \"Tides\"\n\ntags = [\"x\",\nauthor = \"Ada\"\n+++\n\n# Head\n");
        let notes = &extraction.coverage.notes;
        assert!(notes.len() == 1 && notes[0].contains("from line 5 on"), "{notes:?}");
        assert_eq!(extraction.title.as_deref(), Some("Tides"));
    }

    #[test]
    fn too_much_front_matter_is_text_with_a_note() {
        let extraction = read_text(&format!("---\na: 1\n\n# Head\n\n{}---\n\n# Next\n", "line\n\n".repeat(12_000)));
        let notes = &extraction.coverage.notes;
        assert!(notes.len() == 1 && notes[0].contains("at most 65536 are read"), "{notes:?}");
        assert_eq!(extraction.metadata, Some(Metadata::default()));
        let names: Vec<_> = sections(&extraction).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["Head", "Next"]);
    }

    #[test]
    fn many_blocks_after_many_blank_lines_are_read_at_once() {
        let blocks = "+++\na\n+++\n\n".repeat(60_000);
        let unclosed = "+++\t\na\n\n".repeat(60_000);
        for text in [format!("{}x\n\n{blocks}", "\n".repeat(300_000)), format!("x\n\n{unclosed}")] {
            let started = std::time::Instant::now();
            read_text(&text);
            assert!(started.elapsed().as_secs() < 2, "{:?}", started.elapsed());
        }
    }

    #[test]
    fn skipped_levels_and_empty_headings_keep_the_path_right() {
        let extraction = read_text("### Deep\n\nx\n\n#\n\ny\n\n# Top\n\n### Under\n\nz\n");
        let paths: Vec<_> = sections(&extraction).into_iter().map(|s| s.0).collect();
        assert_eq!(paths, ["Deep", "Top", "Top > Under"]);
    }
}
