//! Reports as one HTML file: figures, tables and text in the colours of the theme, nothing loaded from anywhere.

use std::fmt::Write as _;

use super::{escaped, theme};

/// A page that grows.
pub(crate) struct Page {
    html: String,
}

impl Page {
    pub(crate) fn new(title: &str) -> Self {
        let colour = |name: &str| theme().colour(name).to_owned();
        let title = escaped(title);
        let style = format!(
            "body {{ background: {ground}; color: {ink}; margin: 0; font: 15px/1.45 Inter, 'Helvetica Neue', 'Segoe \
             UI', Arial, sans-serif; font-variant-numeric: tabular-nums }}\n\
             main {{ max-width: 1120px; margin: 40px auto; padding: 0 24px }}\n\
             h1 {{ font-size: 24px }} h2 {{ font-size: 18px; margin-top: 32px }}\n\
             dl {{ display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; color: {soft} }} \
             dd {{ margin: 0 }}\n\
             figure {{ margin: 24px 0 }} svg {{ max-width: 100%; height: auto }}\n\
             table {{ border-collapse: collapse; width: 100%; font-size: 13px }}\n\
             th, td {{ text-align: right; padding: 5px 8px; border-bottom: 1px solid {line} }}\n\
             th {{ color: {soft}; font-weight: 600 }} th:first-child, td:first-child {{ text-align: left }}\n\
             b.real {{ color: {accent} }} mark {{ background: {wash}; color: {accent}; padding: 0 6px }}\n",
            ground = colour("ground"),
            ink = colour("ink"),
            soft = colour("ink_secondary"),
            line = colour("hairline"),
            accent = colour("accent"),
            wash = colour("accent_wash"),
        );
        let html = format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\n<style>\n\
             {style}</style></head><body><main>\n<h1>{title}</h1>\n"
        );
        Self { html }
    }

    pub(crate) fn heading(&mut self, text: &str) {
        self.push(&format!("<h2>{}</h2>", escaped(text)));
    }

    /// Names and values.
    pub(crate) fn facts(&mut self, facts: &[(String, String)]) {
        self.push("<dl>");
        for (name, value) in facts {
            self.push(&format!("<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value)));
        }
        self.push("</dl>");
    }

    /// A drawing as it is.
    pub(crate) fn figure(&mut self, svg: &str) {
        self.push(&format!("<figure>{svg}</figure>"));
    }

    /// The first row is the head. A cell in asterisks is a difference that is real.
    pub(crate) fn table(&mut self, rows: &[Vec<String>]) {
        self.push("<table>");
        for (index, row) in rows.iter().enumerate() {
            let tag = if index == 0 { "th" } else { "td" };
            let mut line = String::from("<tr>");
            for cell in row {
                let real = cell.strip_prefix('*').and_then(|cell| cell.strip_suffix('*'));
                let shown =
                    real.map_or_else(|| escaped(cell), |cell| format!("<b class=\"real\">{}</b>", escaped(cell)));
                // Writing to a string does not fail.
                let _ = write!(line, "<{tag}>{shown}</{tag}>");
            }
            self.push(&format!("{line}</tr>"));
        }
        self.push("</table>");
    }

    /// Pieces of running text; those with a sign in front are marked.
    pub(crate) fn paragraph(&mut self, pieces: &[(&str, &str)]) {
        let shown = pieces.iter().map(|(sign, text)| match *sign {
            "" | "…" => format!("{sign}{}", escaped(text)),
            sign => format!("<mark>{sign} {}</mark>", escaped(text)),
        });
        self.push(&format!("<p>{}</p>", shown.collect::<Vec<_>>().join(" ")));
    }

    pub(crate) fn finish(mut self) -> String {
        self.push("</main></body></html>");
        self.html
    }

    fn push(&mut self, line: &str) {
        self.html.push_str(line);
        self.html.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_escape_and_mark() {
        let mut page = Page::new("a <b>");
        page.facts(&[("set".to_owned(), "x & y".to_owned())]);
        page.table(&[vec!["chunker".to_owned()], vec!["*+2.0*".to_owned()]]);
        page.paragraph(&[("…", "before"), ("✂", "fixed"), ("", "after")]);
        let html = page.finish();
        for part in [
            "<title>a &lt;b&gt;</title>",
            "x &amp; y",
            "<th>chunker</th>",
            "<b class=\"real\">+2.0</b>",
            "<mark>✂ fixed</mark>",
        ] {
            assert!(html.contains(part), "{part}");
        }
    }
}
