//! [`Annotator`]: citations made by the system while the answer streams.
//!
//! A marker of the model passes only where its passage supports the sentence before it; markers that name no
//! passage, or one that says something else, are dropped and counted. A sentence that is left without a marker gets the
//! passage that supports it best; where none does it gets [`UNSUPPORTED`] and a reason. What streams out is the final
//! answer, letter for letter.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::claim::Claim;
use super::passage::Passage;
use super::support::{Doubt, Evidence, Support};
use super::{Citation, Unsupported};

/// Stands after a sentence that no passage supports.
pub(super) const UNSUPPORTED: &str = "[?]";

/// Longest `[12, 3]` that is looked at; anything longer is text.
const MAX_MARKER_BYTES: usize = 24;
const SENTENCE_ENDS: [char; 6] = ['.', '!', '?', '。', '！', '？'];

/// Passes an answer through, piece by piece, and puts its citations right.
pub(super) struct Annotator<'a> {
    sources: Vec<(Passage<'a>, Evidence<'a>)>,
    /// Came in, not yet judged: a `[` that may begin a marker, a full stop that may end a sentence.
    held: String,
    /// The sentence under way, without markers.
    sentence: String,
    /// Markers put after the sentence under way.
    cited: Vec<u32>,
    citations: BTreeMap<u32, Vec<Citation>>,
    dropped: usize,
    checked: usize,
    unsupported: Vec<Unsupported>,
    last_shown: Option<char>,
    /// Since the last `[` of the text came nothing but digits and separators: a `]` would make it look like a marker.
    looks_like_marker: bool,
    /// A space came in before a `[`: shown only if something follows it.
    owes_space: bool,
}

/// What an answer rests on.
pub(super) struct Annotations {
    /// By marker; a passage that supports several sentences is there with each place.
    pub(super) citations: Vec<Citation>,
    /// Markers that were dropped.
    pub(super) dropped: usize,
    /// Sentences that say something, and so were checked.
    pub(super) checked: usize,
    /// Those that no passage supports.
    pub(super) unsupported: Vec<Unsupported>,
}

impl<'a> Annotator<'a> {
    /// For an answer from these passages.
    pub(super) fn new(passages: &[Passage<'a>]) -> Self {
        let sources = passages.iter().map(|passage| (*passage, passage.evidence()));
        Self {
            sources: sources.collect(),
            held: String::new(),
            sentence: String::new(),
            cited: Vec::new(),
            citations: BTreeMap::new(),
            dropped: 0,
            checked: 0,
            unsupported: Vec::new(),
            last_shown: None,
            looks_like_marker: false,
            owes_space: false,
        }
    }

    /// Takes a piece of the model's text; gives what can be shown.
    pub(super) fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let mut out = String::new();
        while self.step(&mut out, false) {}
        out
    }

    /// Ends the answer; gives the rest of it.
    pub(super) fn finish(&mut self) -> String {
        let mut out = String::new();
        while self.step(&mut out, true) {}
        self.end_sentence(&mut out);
        out
    }

    /// The citations, after [`Self::finish`].
    pub(super) fn into_annotations(self) -> Annotations {
        Annotations {
            citations: self.citations.into_values().flatten().collect(),
            dropped: self.dropped,
            checked: self.checked,
            unsupported: self.unsupported,
        }
    }

    /// Judges the front of what is held; false when nothing more can be said yet.
    fn step(&mut self, out: &mut String, is_last: bool) -> bool {
        let Some(first) = self.held.chars().next() else {
            return false;
        };
        match first {
            '[' => self.step_marker(out, is_last),
            ' ' => self.step_space(out, is_last),
            '\n' => {
                self.end_sentence(out);
                self.pass(first, out);
                true
            }
            _ if SENTENCE_ENDS.contains(&first) => self.step_full_stop(first, out, is_last),
            _ => {
                self.pass(first, out);
                true
            }
        }
    }

    /// The space before a marker goes with it if it is dropped.
    fn step_space(&mut self, out: &mut String, is_last: bool) -> bool {
        match self.held[1..].chars().next() {
            None if !is_last => return false,
            Some('[') => {
                self.held.drain(..1);
                self.owes_space = true;
            }
            _ => self.pass(' ', out),
        }
        true
    }

    fn step_marker(&mut self, out: &mut String, is_last: bool) -> bool {
        let close = self.held.find(']');
        let inside = &self.held[1..close.unwrap_or(self.held.len())];
        let may_be_marker = inside.len() < MAX_MARKER_BYTES
            && inside.chars().all(|letter| letter.is_ascii_digit() || matches!(letter, ',' | ' ' | ';' | '?'));
        match close {
            _ if !may_be_marker => self.pass('[', out),
            Some(close) if inside.contains(|letter: char| letter.is_ascii_digit() || letter == '?') => {
                let numbers = self.held[1..close].to_owned();
                self.held.drain(..=close);
                self.judge_markers(&numbers, out);
            }
            Some(_) => self.pass('[', out),
            None if is_last => self.pass('[', out),
            None => return false,
        }
        true
    }

    /// A sentence ends where white space or the end follows its full stop. Markers that come right after the full
    /// stop still belong to it.
    fn step_full_stop(&mut self, stop: char, out: &mut String, is_last: bool) -> bool {
        let mut after = self.held[stop.len_utf8()..].chars();
        let wide = !stop.is_ascii();
        let ends = match after.next() {
            Some(next) if next.is_whitespace() => {
                let rest = self.held[stop.len_utf8()..].trim_start_matches([' ', '\t']);
                match rest.chars().next() {
                    Some('[') => false,
                    Some(_) => true,
                    None if is_last => true,
                    None => return false,
                }
            }
            Some('[') => false,
            Some(_) => wide,
            None if is_last => true,
            None => return false,
        };
        self.pass(stop, out);
        if ends {
            self.end_sentence(out);
        }
        true
    }

    /// Shows one letter of text.
    fn pass(&mut self, letter: char, out: &mut String) {
        self.held.drain(..letter.len_utf8());
        // What a dropped marker leaves behind, as in `[[9]1]`, must not become one.
        if letter == ']' && std::mem::take(&mut self.looks_like_marker) && self.last_shown != Some('[') {
            return;
        }
        self.looks_like_marker = match letter {
            '[' => true,
            '0'..='9' | ',' | ';' | ' ' => self.looks_like_marker,
            _ => false,
        };
        if !self.cited.is_empty() && letter.is_alphanumeric() {
            self.checked += 1;
            self.begin_sentence();
        }
        let closes = letter.is_whitespace() || matches!(letter, '.' | ',' | ';' | ':' | '!' | '?' | ')');
        if std::mem::take(&mut self.owes_space) && !closes {
            self.sentence.push(' ');
            out.push(' ');
        }
        self.sentence.push(letter);
        self.last_shown = Some(letter);
        out.push(letter);
    }

    fn begin_sentence(&mut self) {
        self.sentence.clear();
        self.cited.clear();
    }

    fn judge_markers(&mut self, numbers: &str, out: &mut String) {
        let claim = Claim::new(&self.sentence);
        for number in numbers.split([',', ' ', ';']).filter(|number| !number.is_empty()) {
            let number = number.parse::<u32>().unwrap_or(0);
            if self.cited.contains(&number) {
                continue;
            }
            if let Some(Ok(support)) = self.source(number).map(|(_, evidence)| evidence.judge(&claim)) {
                self.cite(number, support, out);
            } else {
                self.dropped += 1;
                // What stood on both sides of it must not become a marker of its own.
                self.owes_space = true;
            }
        }
    }

    fn source(&self, number: u32) -> Option<&(Passage<'a>, Evidence<'a>)> {
        self.sources.iter().find(|(passage, _)| passage.number == number)
    }

    /// Gives a sentence without a marker the passage that supports it best, or says that none does.
    fn end_sentence(&mut self, out: &mut String) {
        let claim = Claim::new(&self.sentence);
        let is_new = self.sentence.chars().any(char::is_alphanumeric) && claim.says_something();
        self.checked += usize::from(is_new);
        if self.cited.is_empty() && is_new {
            match self.best_source(&claim) {
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
            out.push(' ');
        }
        let _ = write!(out, "{marker}");
        self.last_shown = Some(']');
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::answer::samples::hits;
    use crate::retrieve::SearchHit;

    fn annotate(hits: &[SearchHit], pieces: &[&str]) -> (String, Annotations) {
        let mut annotator = Annotator::new(&Passage::number_all(hits));
        let mut shown = String::new();
        for piece in pieces {
            shown.push_str(&annotator.push(piece));
        }
        shown.push_str(&annotator.finish());
        (shown, annotator.into_annotations())
    }

    fn contract() -> Vec<SearchHit> {
        hits(&[
            "Drilling is paid per metre. Standby time is paid at 145 euros per hour.",
            "Notice of 21 days ends the contract.",
        ])
    }

    #[test]
    fn a_good_marker_stays_and_quotes_its_sentence() {
        let (shown, found) = annotate(&contract(), &["Standby time costs 145 euros per hour [1]."]);
        assert_eq!(shown, "Standby time costs 145 euros per hour [1].");
        assert_eq!(found.citations[0].quote, "Standby time is paid at 145 euros per hour.");
        assert_eq!(found.dropped, 0);
    }

    #[test]
    fn markers_that_name_nothing_or_the_wrong_thing_are_replaced() {
        let (shown, found) = annotate(
            &contract(),
            &["Notice of 21 days ends the contract [7]", ". Standby is paid 145 euros per hour. [2]\n"],
        );
        assert_eq!(shown, "Notice of 21 days ends the contract. [2] Standby is paid 145 euros per hour. [1]\n");
        assert_eq!(found.dropped, 2);
        assert_eq!(found.citations.len(), 2);
    }

    #[test]
    fn a_sentence_without_a_marker_gets_one() {
        let (shown, found) = annotate(&contract(), &["The contract ends with a notice of 21 days."]);
        assert_eq!(shown, "The contract ends with a notice of 21 days. [2]");
        assert_eq!(found.citations[0].marker, 2);
    }

    #[test]
    fn what_no_passage_says_is_not_cited() {
        let (shown, found) = annotate(&contract(), &["Whales sing at night [1]. See list[0] and [x]."]);
        assert_eq!(shown, "Whales sing at night. [?] See list and [x]. [?]");
        assert!(found.citations.is_empty());
        assert_eq!((found.dropped, found.checked, found.unsupported.len()), (2, 2, 2));
        assert_eq!(found.unsupported[0].sentence, "Whales sing at night.");
    }

    #[test]
    fn a_model_cannot_write_the_mark_of_doubt() {
        let (shown, found) = annotate(&contract(), &["Notice of 21 days ends the contract. [?]"]);
        assert_eq!(shown, "Notice of 21 days ends the contract. [2]");
        assert!(found.unsupported.is_empty());
    }

    #[test]
    fn what_is_left_around_a_dropped_marker_is_no_marker() {
        let (shown, _) = annotate(&contract(), &["a[[0]0] and [1[2]2]"]);
        assert!(!shown.contains("[0]") && !shown.contains("[12]"), "{shown}");
    }

    #[test]
    fn an_unclosed_bracket_is_text() {
        let (shown, _) = annotate(&contract(), &["Open [1"]);
        assert_eq!(shown, "Open [1 [?]");
    }

    #[test]
    fn lines_and_bytes_of_a_quote_are_the_documents() {
        let hits = hits(&["First line.\nStandby time is paid at 145 euros."]);
        let (_, found) = annotate(&hits, &["Standby time is paid at 145 euros."]);
        let citation = &found.citations[0];
        assert_eq!(citation.lines, (11, 11));
        assert_eq!((citation.start, citation.end), (1012, 1046));
    }

    proptest! {
        #[test]
        fn streaming_in_any_pieces_gives_the_same_answer(
            text in "(Notice of 21 days|Standby is paid 145 euros per hour|whales|\\[[0-9]{1,2}\\]|\\[|\\]|\\. |\n| |。){0,14}",
            cuts in proptest::collection::vec(1_usize..9, 0..30),
        ) {
            let hits = contract();
            let (whole, _) = annotate(&hits, &[&text]);
            let letters: Vec<char> = text.chars().collect();
            let mut pieces = Vec::new();
            let mut rest = letters.as_slice();
            for cut in cuts {
                let (head, tail) = rest.split_at(cut.min(rest.len()));
                pieces.push(head.iter().collect::<String>());
                rest = tail;
            }
            pieces.push(rest.iter().collect());
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let (streamed, found) = annotate(&hits, &pieces);
            prop_assert_eq!(&streamed, &whole);
            for citation in &found.citations {
                let chunk = &hits[citation.marker as usize - 1].chunk;
                prop_assert_eq!(&chunk.text[citation.start - chunk.start..citation.end - chunk.start], &citation.quote);
                let shown = format!("[{}]", citation.marker);
                prop_assert!(streamed.contains(&shown));
            }
        }

        /// Brackets in brackets, which random text seldom has.
        #[test]
        fn no_marker_is_left_of_nested_ones(pieces in proptest::collection::vec("[0-9]|\\[|\\]| |a", 0..12)) {
            let (shown, found) = annotate(&contract(), &[&pieces.concat()]);
            for rest in shown.split('[').skip(1) {
                let number = rest.split_once(']').and_then(|(inside, _)| inside.parse::<u32>().ok());
                if let Some(number) = number {
                    prop_assert!(found.citations.iter().any(|citation| citation.marker == number), "{shown:?}");
                }
            }
        }

        #[test]
        fn every_marker_shown_names_a_citation(text in "[a-z0-9 .\\[\\]]{0,60}") {
            let (shown, found) = annotate(&contract(), &[&text]);
            let mut rest = shown.as_str();
            while let Some(at) = rest.find('[') {
                rest = &rest[at + 1..];
                let number = rest.split(']').next().and_then(|inside| inside.parse::<u32>().ok());
                if let Some(number) = number.filter(|_| rest.contains(']')) {
                    prop_assert!(found.citations.iter().any(|citation| citation.marker == number));
                }
            }
        }
    }
}
