//! Answers as Markdown whose `[n]` markers are links to the passages they cite.

use std::ops::Range;

use egui::Ui;
use egui_commonmark::{CommonMarkCache, CommonMarkViewer};
use pulldown_cmark::{Event, Options, Parser, Tag};

use super::super::theme::for_reading;

/// Draws answers.
#[derive(Default)]
pub(super) struct Markdown {
    cache: CommonMarkCache,
}

impl Markdown {
    /// Draws `text`; gives the marker that was clicked. `markers` are those that name a passage.
    pub(super) fn ui(&mut self, ui: &mut Ui, text: &str, markers: &[u32]) -> Option<u32> {
        self.cache.link_hooks_clear();
        for marker in markers {
            self.cache.add_link_hook(target(*marker));
        }
        let linked = outside_code(text, |prose| link_markers(&without_images(prose), markers));
        for_reading(ui);
        CommonMarkViewer::new().explicit_image_uri_scheme(true).show(ui, &mut self.cache, &linked);
        markers.iter().copied().find(|marker| self.cache.get_link_hook(&target(*marker)) == Some(true))
    }
}

fn target(marker: u32) -> String {
    format!("#passage-{marker}")
}

/// Images are shown as links: nothing is fetched, from the network or from disk.
fn without_images(text: &str) -> String {
    text.replace("![", "[")
}

/// The text with everything but code spans and code blocks changed.
fn outside_code(text: &str, change: impl Fn(&str) -> String) -> String {
    let mut changed = String::with_capacity(text.len());
    let mut end = 0;
    for code in code_ranges(text) {
        changed.push_str(&change(&text[end..code.start]));
        changed.push_str(&text[code.clone()]);
        end = code.end;
    }
    changed.push_str(&change(&text[end..]));
    changed
}

/// Bytes of the code of a Markdown text, in order.
fn code_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let is_code = matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(_)));
        if is_code && ranges.last().is_none_or(|last| last.end <= range.start) {
            ranges.push(range);
        }
    }
    ranges
}

/// Turns each `[n]` of `markers` into a link.
fn link_markers(text: &str, markers: &[u32]) -> String {
    let mut linked = String::with_capacity(text.len() + 16 * markers.len());
    let mut rest = text;
    while let Some(at) = rest.find('[') {
        let (before, from) = rest.split_at(at);
        linked.push_str(before);
        let length = match marker_at(from) {
            Some((marker, length)) if markers.contains(&marker) => {
                linked.push_str(&format!("[\\[{marker}\\]]({})", target(marker)));
                length
            }
            _ => {
                linked.push('[');
                1
            }
        };
        rest = &from[length..];
    }
    linked.push_str(rest);
    linked
}

/// The number in a marker at the start of `text`, and the marker's length; not a link's text.
fn marker_at(text: &str) -> Option<(u32, usize)> {
    let inner = text.strip_prefix('[')?;
    let end = inner.find(']')?;
    let marker = inner[..end].parse().ok()?;
    let follows = inner[end + 1..].chars().next();
    (follows != Some('(')).then_some((marker, end + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_become_links_where_they_name_a_passage() {
        assert_eq!(link_markers("It is so [1][2].", &[1]), "It is so [\\[1\\]](#passage-1)[2].");
        assert_eq!(link_markers("[1](x) é[1]", &[1]), "[1](x) é[\\[1\\]](#passage-1)");
        assert_eq!(link_markers("open [1", &[1]), "open [1");
    }

    #[test]
    fn code_is_shown_as_it_is_written() {
        let shown = |text: &str| outside_code(text, |prose| link_markers(&without_images(prose), &[1]));
        let link = "[\\[1\\]](#passage-1)";
        for code in [
            "`a[1]`",
            "``a[1] ` b``",
            "```\nvec![1]; a[1] ` b\n```\n",
            "~~~\na[1]\n~~~\n",
            "- x\n\n  ```\n  a[1]\n  ```\n",
        ] {
            assert_eq!(shown(&format!("{code}\n\n![x] [1]")), format!("{code}\n\n[x] {link}"));
        }
        assert_eq!(shown("one ` open [1]\n\nthen [1]"), format!("one ` open {link}\n\nthen {link}"));
        assert_eq!(shown("| a |\n|---|\n| `b[1]` [1] |"), format!("| a |\n|---|\n| `b[1]` {link} |"));
        assert_eq!(shown("```\na[1]"), "```\na[1]", "a block that is still being written");
    }

    #[test]
    fn images_are_not_loaded() {
        assert_eq!(without_images("see ![x](http://a/b.png)"), "see [x](http://a/b.png)");
    }
}
