//! Answers as Markdown whose `[n]` markers are links to the passages they cite.

use egui::Ui;
use egui_commonmark::{CommonMarkCache, CommonMarkViewer};

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
        let linked = link_markers(&without_images(text), markers);
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

/// Turns each `[n]` of `markers` into a link, outside code.
fn link_markers(text: &str, markers: &[u32]) -> String {
    let mut linked = String::with_capacity(text.len() + 16 * markers.len());
    let mut in_code = false;
    let mut rest = text;
    while let Some(at) = rest.find(['[', '`']) {
        let (before, from) = rest.split_at(at);
        linked.push_str(before);
        let length = match (from.starts_with('`'), marker_at(from)) {
            (true, _) => {
                in_code = !in_code;
                1
            }
            (false, Some((marker, length))) if !in_code && markers.contains(&marker) => {
                linked.push_str(&format!("[\\[{marker}\\]]({})", target(marker)));
                rest = &from[length..];
                continue;
            }
            _ => 1,
        };
        linked.push_str(&from[..length]);
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
        assert_eq!(link_markers("`a[1]` and [1](x) é[1]", &[1]), "`a[1]` and [1](x) é[\\[1\\]](#passage-1)");
        assert_eq!(link_markers("open [1", &[1]), "open [1");
    }

    #[test]
    fn images_are_not_loaded() {
        assert_eq!(without_images("see ![x](http://a/b.png)"), "see [x](http://a/b.png)");
    }
}
