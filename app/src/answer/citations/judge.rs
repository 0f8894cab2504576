//! Judging sentences, code blocks and rows, and putting their markers after them.

use super::super::Unsupported;
use super::super::claim::Claim;
use super::super::passage::Passage;
use super::super::support::{Doubt, Evidence, Support};
use super::blocks::{CodeBlock, without_last_pipe};
use super::markers::without_markers;
use super::{Annotator, UNSUPPORTED};

impl<'a> Annotator<'a> {
    pub(super) fn begin_sentence(&mut self) {
        self.sentence.clear();
        self.cited.clear();
    }

    pub(super) fn judge_markers(&mut self, numbers: &[u32], out: &mut String) {
        let claim = Claim::new(&self.sentence);
        for number in numbers {
            if self.cited.contains(number) {
                continue;
            }
            if !self.cite_if_supported(*number, &claim, out) {
                // What stood on both sides of it must not become a marker of its own.
                self.owes_space = true;
            }
        }
    }

    /// Judges a marker of the model; false where it is dropped.
    fn cite_if_supported(&mut self, number: u32, claim: &Claim, out: &mut String) -> bool {
        if let Some(Ok(support)) = self.source(number).map(|(_, evidence)| evidence.judge(claim)) {
            self.cite(number, support, out);
            return true;
        }
        self.dropped += 1;
        false
    }

    /// Gives a code block that was shown its marker, in a line of its own.
    pub(super) fn judge_code(&mut self, block: &CodeBlock, out: &mut String) {
        let claim = Claim::of_code(&block.code);
        if !claim.says_something() {
            return;
        }
        let mut lines = block.code.trim().lines();
        lines.next().unwrap_or_default().clone_into(&mut self.sentence);
        self.sentence.push_str(if lines.next().is_some() { " …" } else { "" });
        let indent = &block.indent;
        let line_end = if self.last_shown == Some('\n') { "" } else { "\n" };
        self.write(&format!("{line_end}{}\n{indent}", indent.trim_end()), out);
        self.end_claim(&claim, out);
        self.owes_blank_line = true;
    }

    /// Shows a row of a table with its markers in the last cell.
    pub(super) fn judge_row(&mut self, row: &str, header: &str, out: &mut String) {
        let (row, numbers) = without_markers(row);
        let claim = Claim::of_row(&row, header);
        if !claim.says_something() {
            self.dropped += numbers.len();
            self.write(&row, out);
            return;
        }
        let open = without_last_pipe(&row);
        self.sentence.clone_from(&row);
        self.write(open.unwrap_or(&row).trim_end(), out);
        for number in numbers {
            if !self.cited.contains(&number) {
                self.cite_if_supported(number, &claim, out);
            }
        }
        self.end_claim(&claim, out);
        self.write(if open.is_some() { " |" } else { "" }, out);
    }

    fn source(&self, number: u32) -> Option<&(Passage<'a>, Evidence<'a>)> {
        self.sources.iter().find(|(passage, _)| passage.number == number)
    }

    /// Ends the sentence under way, if there is one.
    pub(super) fn end_sentence(&mut self, out: &mut String) {
        let claim = Claim::new(&self.sentence);
        if self.sentence.contains(char::is_alphanumeric) && claim.says_something() {
            self.end_claim(&claim, out);
        }
        self.begin_sentence();
    }

    /// Gives a claim without a marker the passage that supports it best, or says that none does.
    fn end_claim(&mut self, claim: &Claim, out: &mut String) {
        self.checked += 1;
        if self.cited.is_empty() {
            match self.best_source(claim) {
                Ok((number, support)) => self.cite(number, support, out),
                Err(doubt) => self.doubt(doubt, out),
            }
        }
        self.begin_sentence();
    }

    /// The best supporting passage, of equals the better ranked; or what the nearest one lacks.
    fn best_source(&self, claim: &Claim) -> Result<(u32, Support), Option<Doubt>> {
        let mut best: Option<(u32, Support)> = None;
        let mut nearest: Option<Doubt> = None;
        for (passage, evidence) in &self.sources {
            match evidence.judge(claim) {
                Ok(support) if best.as_ref().is_none_or(|(_, best)| support.share > best.share) => {
                    best = Some((passage.number, support));
                }
                Err(doubt) if nearest.as_ref().is_none_or(|nearest| doubt.share > nearest.share) => {
                    nearest = Some(doubt);
                }
                _ => {}
            }
        }
        best.ok_or(nearest)
    }

    fn cite(&mut self, number: u32, support: Support, out: &mut String) {
        let Some((passage, _)) = self.source(number) else {
            return;
        };
        let citation = passage.cite(support.range);
        self.mark(&format!("[{number}]"), out);
        self.cited.push(number);
        let cited = self.citations.entry(number).or_default();
        if !cited.iter().any(|other| (other.start, other.end) == (citation.start, citation.end)) {
            cited.push(citation);
        }
    }

    fn doubt(&mut self, doubt: Option<Doubt>, out: &mut String) {
        self.mark(UNSUPPORTED, out);
        let reason = doubt.map_or_else(|| "there is no passage".to_owned(), |doubt| doubt.reason.describe());
        self.unsupported.push(Unsupported { sentence: self.sentence.trim().to_owned(), reason });
    }

    /// Shows a marker after what was shown.
    fn mark(&mut self, marker: &str, out: &mut String) {
        self.owes_space = false;
        if self.last_shown.is_some_and(|last| !last.is_whitespace() && last != ']') {
            self.write(" ", out);
        }
        self.write(marker, out);
    }
}
