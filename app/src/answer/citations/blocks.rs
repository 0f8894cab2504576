//! [`Blocks`]: an answer on its way, told apart into prose, code blocks and rows of tables.
//!
//! Letters come in one by one, and only the beginning of a line is held back: until it is known what the line is, a
//! line that begins with a pipe or a fence until its end, and a first line of pipes until the next line says whether it
//! is a header. So the parts are the same however the text is cut into pieces.

/// Letters that a fence is made of, at least.
const FENCE_LETTERS: usize = 3;

/// What some of the text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Prose, to be read sentence by sentence.
    Text(String),
    /// Shown as it is: fences and what is between them, the header of a table, line ends of its rows.
    Plain(String),
    /// A code block is over; it was shown.
    Code(CodeBlock),
    /// A row of a table, without its line end.
    Row {
        /// The row.
        row: String,
        /// The header of its table.
        header: String,
    },
}

/// A code block that was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CodeBlock {
    /// What stood between its fences.
    pub(super) code: String,
    /// What stands before a line that belongs to the same list item or quotation.
    pub(super) indent: String,
}

/// Tells the parts of a text apart.
#[derive(Default)]
pub(super) struct Blocks {
    parts: Vec<Part>,
    /// The line under way, as far as it is held back; in code all of it.
    line: String,
    /// The line under way is prose and passes.
    in_prose: bool,
    fence: Option<Fence>,
    /// A line of pipes, with its line end, that is a header if a delimiter row follows.
    first_row: Option<String>,
    /// The header of the table under way.
    header: Option<String>,
}

struct Fence {
    letter: char,
    count: usize,
    indent: String,
    code: String,
}

/// What a line is.
enum Line {
    Prose,
    Pipes,
    Fence(Fence),
}

impl Blocks {
    /// Takes a piece of the text; gives the parts that are certain.
    pub(super) fn push(&mut self, piece: &str) -> Vec<Part> {
        for letter in piece.chars() {
            self.take(letter);
        }
        std::mem::take(&mut self.parts)
    }

    /// Ends the text; gives the rest of it. A code block that is left open is closed.
    pub(super) fn finish(&mut self) -> Vec<Part> {
        if self.fence.is_some() {
            self.end_code();
        } else if !self.line.is_empty() {
            self.begin_line(true);
        }
        if self.fence.is_some() {
            self.end_code();
        }
        self.leave_table();
        std::mem::take(&mut self.parts)
    }

    fn take(&mut self, letter: char) {
        let ends_line = letter == '\n';
        if self.in_prose {
            self.text(letter.encode_utf8(&mut [0; 4]));
            self.in_prose = !ends_line;
            return;
        }
        self.line.push(letter);
        if self.fence.is_some() {
            self.plain(letter.encode_utf8(&mut [0; 4]));
            if ends_line {
                self.end_line_of_code();
            }
        } else {
            self.begin_line(ends_line);
        }
    }

    /// Lets the held line go once it is known what it is.
    fn begin_line(&mut self, is_whole: bool) {
        let Some(kind) = kind_of(&self.line, is_whole) else {
            return;
        };
        let line = std::mem::take(&mut self.line);
        match kind {
            Line::Prose => {
                self.leave_table();
                self.in_prose = !line.ends_with('\n');
                self.text(&line);
            }
            Line::Fence(fence) => {
                self.leave_table();
                self.fence = Some(fence);
                self.plain(&line);
                // Where the text ends in this line.
                self.plain(if line.ends_with('\n') { "" } else { "\n" });
            }
            Line::Pipes => self.take_pipes(line),
        }
    }

    fn take_pipes(&mut self, line: String) {
        if let Some(header) = self.header.clone() {
            let row = line.trim_end_matches(['\n', '\r']);
            self.parts.push(Part::Row { row: row.to_owned(), header });
            self.plain(&line[row.len()..]);
            return;
        }
        match self.first_row.take() {
            Some(header) if is_delimiter(&line) && num_cells(&header) == num_cells(&line) => {
                self.plain(&header);
                self.plain(&line);
                self.header = Some(header);
            }
            before => {
                if let Some(before) = before {
                    self.text(&before);
                }
                self.first_row = Some(line);
            }
        }
    }

    fn leave_table(&mut self) {
        self.header = None;
        if let Some(line) = self.first_row.take() {
            self.text(&line);
        }
    }

    fn end_line_of_code(&mut self) {
        let line = std::mem::take(&mut self.line);
        match self.fence.take() {
            Some(fence) if fence.is_closed_by(&line) => self.parts.push(Part::Code(fence.into_block())),
            Some(mut fence) => {
                fence.code.push_str(&line);
                self.fence = Some(fence);
            }
            None => {}
        }
    }

    /// Ends the text inside code, or right after its closing fence.
    fn end_code(&mut self) {
        let line = std::mem::take(&mut self.line);
        let Some(mut fence) = self.fence.take() else {
            return;
        };
        if !fence.is_closed_by(&line) {
            fence.code.push_str(&line);
            let closing: String = std::iter::repeat_n(fence.letter, fence.count).collect();
            let line_end = if line.is_empty() { "" } else { "\n" };
            self.plain(&format!("{line_end}{}{closing}", fence.indent));
        }
        self.parts.push(Part::Code(fence.into_block()));
    }

    fn text(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(Part::Text(before)) => before.push_str(text),
            _ => self.parts.push(Part::Text(text.to_owned())),
        }
    }

    fn plain(&mut self, text: &str) {
        match self.parts.last_mut() {
            _ if text.is_empty() => {}
            Some(Part::Plain(before)) => before.push_str(text),
            _ => self.parts.push(Part::Plain(text.to_owned())),
        }
    }
}

impl Fence {
    /// The fence that a line opens. What follows backticks in their line has none.
    fn opened_by(line: &str) -> Option<Self> {
        let inner = inside_containers(line);
        let letter = inner.chars().next().filter(|letter| matches!(letter, '`' | '~'))?;
        let info = inner.trim_start_matches(letter);
        let count = inner.len() - info.len();
        let is_fence = count >= FENCE_LETTERS && !(letter == '`' && info.contains('`'));
        let keep = |before: char| if before.is_whitespace() || before == '>' { before } else { ' ' };
        let indent = line[..line.len() - inner.len()].chars().map(keep).collect();
        is_fence.then(|| Self { letter, count, indent, code: String::new() })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let inner = line.trim_start_matches([' ', '\t', '>']);
        let after = inner.trim_start_matches(self.letter);
        inner.len() - after.len() >= self.count && after.trim().is_empty()
    }

    fn into_block(self) -> CodeBlock {
        CodeBlock { code: self.code, indent: self.indent }
    }
}

/// What the line that begins like this is; `None` while that is not known.
fn kind_of(line: &str, is_whole: bool) -> Option<Line> {
    let inner = inside_containers(line).trim_end_matches(['\n', '\r']);
    let may_be_fence = ["```", "~~~"].iter().any(|fence| inner.starts_with(fence) || fence.starts_with(inner));
    let has_pipe = line.trim_start_matches([' ', '\t']).starts_with('|');
    if !is_whole && (may_be_fence || has_pipe || may_be_list_marker(inner)) {
        return None;
    }
    if has_pipe {
        return Some(Line::Pipes);
    }
    Some(Fence::opened_by(line.trim_end_matches(['\n', '\r'])).map_or(Line::Prose, Line::Fence))
}

/// The line without the marks of the lists and quotations that it begins in.
fn inside_containers(line: &str) -> &str {
    let mut inner = line.trim_start_matches([' ', '\t']);
    while let Some(rest) = inner.strip_prefix('>').or_else(|| after_list_marker(inner)) {
        inner = rest.trim_start_matches([' ', '\t']);
    }
    inner
}

fn after_list_marker(line: &str) -> Option<&str> {
    let after_digits = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let marks: &[char] = if after_digits.len() < line.len() { &['.', ')'] } else { &['-', '*', '+'] };
    after_digits.strip_prefix(marks).filter(|rest| rest.starts_with([' ', '\t']))
}

/// Whether a line that begins like this may turn out to be an item of a list.
fn may_be_list_marker(inner: &str) -> bool {
    let after_digits = inner.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let has_digits = after_digits.len() < inner.len();
    matches!(inner, "-" | "*" | "+") || (has_digits && matches!(after_digits, "" | "." | ")"))
}

/// Whether a line separates the header of a table from its rows.
fn is_delimiter(line: &str) -> bool {
    let is_dashes = |cell: &str| {
        let cell = cell.trim();
        let dashes = cell.strip_prefix(':').unwrap_or(cell);
        let dashes = dashes.strip_suffix(':').unwrap_or(dashes);
        !dashes.is_empty() && dashes.bytes().all(|byte| byte == b'-')
    };
    cells(line).all(is_dashes)
}

fn num_cells(line: &str) -> usize {
    cells(line).count()
}

/// The cells of a line of pipes.
fn cells(line: &str) -> impl Iterator<Item = &str> {
    let inner = line.trim();
    let inner = inner.strip_prefix('|').unwrap_or(inner);
    let inner = without_last_pipe(inner).unwrap_or(inner);
    let mut is_escaped = false;
    inner.split(move |letter: char| {
        let separates = letter == '|' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        separates
    })
}

/// A row without the pipe that closes it, if one does.
pub(super) fn without_last_pipe(row: &str) -> Option<&str> {
    row.trim_end().strip_suffix('|').filter(|rest| !rest.ends_with('\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<Part> {
        let mut blocks = Blocks::default();
        let mut parts = blocks.push(text);
        for part in blocks.finish() {
            match (parts.last_mut(), part) {
                (Some(Part::Text(before)), Part::Text(text)) | (Some(Part::Plain(before)), Part::Plain(text)) => {
                    before.push_str(&text);
                }
                (_, part) => parts.push(part),
            }
        }
        parts
    }

    fn code(parts: &[Part]) -> Vec<(&str, &str)> {
        let mut blocks = Vec::new();
        for part in parts {
            if let Part::Code(block) = part {
                blocks.push((block.code.as_str(), block.indent.as_str()));
            }
        }
        blocks
    }

    fn rows(parts: &[Part]) -> Vec<&str> {
        parts
            .iter()
            .filter_map(|part| if let Part::Row { row, .. } = part { Some(row.as_str()) } else { None })
            .collect()
    }

    #[test]
    fn fences_are_code_wherever_they_stand() {
        assert_eq!(code(&parts("So:\n```rust\nlet a = 1;\n```\nDone.")), [("let a = 1;\n", "")]);
        assert_eq!(code(&parts("~~~~\n~~~\n```\n~~~~\n")), [("~~~\n```\n", "")]);
        assert_eq!(code(&parts("1. Step\n   ```sh\n   ls\n   ```\n")), [("   ls\n", "   ")]);
        assert_eq!(code(&parts("- ```\n  ls\n  ```")), [("  ls\n", "  ")]);
        assert_eq!(code(&parts("> ```\n> ls\n> ```")), [("> ls\n", "> ")]);
        assert!(code(&parts("``` is a fence, ```x``` is not\n```x``` neither\n")).is_empty());
    }

    #[test]
    fn what_is_left_open_is_closed() {
        let all = parts("```\nlet a");
        assert_eq!(all[0], Part::Plain("```\nlet a\n```".to_owned()));
        assert_eq!(code(&all), [("let a", "")]);
        assert_eq!(parts("```sh")[0], Part::Plain("```sh\n```".to_owned()));
    }

    #[test]
    fn a_table_has_a_header_and_a_delimiter_of_as_many_cells() {
        let table = "| Wind \\| gust | Stops |\n|:---|--:|\n| 12 m/s | boats |\n| 20 | all\n\nThen.";
        assert_eq!(rows(&parts(table)), ["| 12 m/s | boats |", "| 20 | all"]);
        for text in ["| a | b |\n| c | d |\n", "| a | b |\n|---|\n| c | d |\n", "| a |\n\n|---|\n| c |\n"] {
            assert_eq!(parts(text), [Part::Text(text.to_owned())], "{text}");
        }
        assert_eq!(rows(&parts("| no |\n| a |\n|---|\n| c |")), ["| c |"]);
    }
}
