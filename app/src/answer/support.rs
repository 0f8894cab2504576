//! Does a passage support a sentence of the answer, and where?
//!
//! The rule: in one sentence or row of the passage, or in two sentences that follow each other, stand at least
//! [`MIN_SUPPORT`] of the claim's words that carry meaning and all of its numbers; its names stand somewhere in the
//! passage, its quotations word for word; and both say "not" or neither does. Of a table or list, no other row may
//! hold more of the claim's words with another number: then the number was taken from the wrong row.
//!
//! A number stands there with its unit ([`measures`]): with the same currency, length or time, however it is
//! written, and what it counts or is counted per stands in the same place; a number that has no unit in the passage, as in
//! the cell of a table, may have any. A date is one number however it is written; where the place has no whole date, its
//! day, month and year are looked for one by one. What begins a sentence is a name where it stands like one
//! ([`subjects`](super::subjects)); of that the passage must have some form.
//!
//! Of a row of a table the words of its header that are numbers must be found too. A code block may rest on as many lines
//! as it has; its identifiers of several words are names, and "not" and quotation marks say nothing there.

use std::collections::HashSet;
use std::ops::Range;

use super::claim::{Claim, denies_any, excludes, negates, plain};
use super::dates::is_date;
use super::measures::{Measure, measures, said, unit};
use super::segments::{Segment, segments};
use super::words::{Term, term_set};

/// Share of the words that must be found.
pub(super) const MIN_SUPPORT: f32 = 0.6;
/// What a second sentence must add to be quoted too.
const MIN_GAIN: f32 = 0.2;
/// Letters that two forms of a name share (*Norman*, *Normandy*).
const NAME_LETTERS: usize = 5;
/// Letters of a word that another may begin with, where the word begins a sentence (*rain*, *Rainfall*).
const ROOT_LETTERS: usize = 4;

/// Where a passage supports a claim.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Support {
    /// Share of the claim's words found there.
    pub(super) share: f32,
    /// Bytes of the passage.
    pub(super) range: Range<usize>,
}

/// Why a passage does not support a claim; `share` says how near it came.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Doubt {
    /// Largest share of the claim's words found in one place.
    pub(super) share: f32,
    /// What is wrong.
    pub(super) reason: DoubtReason,
}

/// What a claim lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DoubtReason {
    /// Too few of its words stand in one place.
    Words,
    /// A number that is not there, or not beside the other words.
    Number(String),
    /// The number stands in one row, the words in another.
    OtherRow(String),
    /// A number that stands there with another unit.
    Unit(String),
    /// A name that is not there.
    Name(String),
    /// A quotation that is not there.
    Quotation,
    /// One says "not" and the other does not.
    Negation,
}

impl DoubtReason {
    /// A few words for people.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Words => "no passage says this".to_owned(),
            Self::Number(date) if is_date(date) => format!("no passage says this with the date {date}"),
            Self::Unit(measure) => format!("the passage has the number with another unit than “{measure}”"),
            Self::Number(number) if number.starts_with(|letter: char| letter.is_ascii_digit()) => {
                format!("no passage says this with the number {number}")
            }
            Self::Number(word) => format!("no passage says this with “{word}”"),
            Self::OtherRow(number) => format!("{number} stands in another row than the rest"),
            Self::Name(name) => format!("the passages do not name “{name}” here"),
            Self::Quotation => "the quoted words stand in no passage".to_owned(),
            Self::Negation => "the passage says “not” where the answer does not, or the other way round".to_owned(),
        }
    }
}

/// A passage prepared for matching.
pub(super) struct Evidence<'a> {
    text: &'a str,
    plain: String,
    /// Title and headings: said by the passage, never quoted.
    context: HashSet<Term>,
    words: HashSet<Term>,
    segments: Vec<Segment>,
}

impl<'a> Evidence<'a> {
    /// Splits a passage into its sentences and words. `context`, such as title and headings, counts as said by
    /// the passage but is never quoted.
    pub(super) fn new(text: &'a str, context: &str) -> Self {
        let context = term_set(context);
        let mut words = term_set(text);
        words.extend(context.iter().cloned());
        Self { text, plain: plain(text), context, words, segments: segments(text) }
    }

    /// Whether the passage supports `claim`, and where; else what is wrong.
    pub(super) fn judge(&self, claim: &Claim) -> Result<Support, Doubt> {
        let Some(place) = self.best_place(claim) else {
            return Err(Doubt { share: 0.0, reason: DoubtReason::Words });
        };
        let doubt = |reason| Err(Doubt { share: place.share, reason });
        let is_verbatim = self.plain.contains(&claim.plain);
        if place.share < MIN_SUPPORT && !is_verbatim {
            return doubt(DoubtReason::Words);
        }
        if let Some(number) = self.missing_number(claim, &place) {
            return doubt(DoubtReason::Number(number));
        }
        if let Some(number) = self.number_of_another_row(claim, &place).filter(|_| !is_verbatim) {
            return doubt(DoubtReason::OtherRow(number));
        }
        if let Some(measure) = self.measure_with_another_unit(claim, &place).filter(|_| !is_verbatim) {
            return doubt(DoubtReason::Unit(measure.written.clone()));
        }
        // Identifiers have no forms.
        let is_named = |stem: &str| if claim.is_code { self.has_word(stem) } else { self.names(stem) };
        let unnamed = claim.names.iter().find(|(stem, _)| !is_named(stem));
        let unknown = claim.subjects.iter().find(|(stem, _)| !self.names(stem) && !self.has_root_of(stem));
        if let Some((_, written)) = unnamed.or(unknown) {
            return doubt(DoubtReason::Name(written.clone()));
        }
        if claim.quotes.iter().any(|quote| !self.plain.contains(quote.as_str())) {
            return doubt(DoubtReason::Quotation);
        }
        if !self.agrees_on_negation(claim, &place) {
            return doubt(DoubtReason::Negation);
        }
        Ok(Support { share: place.share, range: self.range_of(&place) })
    }

    /// The segment, or two next to each other, that hold most of the claim; those that hold its numbers come first.
    fn best_place(&self, claim: &Claim) -> Option<Place> {
        if claim.is_code {
            return self.best_lines(claim);
        }
        let single = (0..self.segments.len()).map(|first| self.place(first..first + 1, claim)).max_by(Place::order)?;
        let follows = |first: usize| !self.segments[first].is_row && !self.segments[first + 1].is_row;
        let pairs = (0..self.segments.len().saturating_sub(1)).filter(|first| follows(*first));
        let pair = pairs.map(|first| self.place(first..first + 2, claim)).max_by(Place::order);
        let adds = |pair: &Place| pair.numbers > single.numbers || pair.share - single.share >= MIN_GAIN;
        Some(pair.filter(adds).unwrap_or(single))
    }

    /// The lines that hold most of a code block, as few as hold it.
    fn best_lines(&self, claim: &Claim) -> Option<Place> {
        let span = claim.span.min(self.segments.len());
        let starts = 0..=self.segments.len() - span;
        let mut best = starts.map(|first| self.place(first..first + span, claim)).max_by(Place::order)?;
        while best.segments.len() > 1 {
            let Range { start, end } = best.segments.clone();
            let shorter = [start..end - 1, start + 1..end].map(|lines| self.place(lines, claim));
            let Some(shorter) = shorter.into_iter().find(|shorter| !shorter.holds_less_than(&best)) else {
                break;
            };
            best = shorter;
        }
        Some(best).filter(|place| !place.segments.is_empty())
    }

    fn place(&self, segments: Range<usize>, claim: &Claim) -> Place {
        let found = claim.words.iter().filter(|term| self.holds(&segments, term)).count();
        let numbers = claim.numbers().filter(|term| self.holds(&segments, term)).count();
        Place { share: found as f32 / claim.words.len().max(1) as f32, numbers, segments }
    }

    fn holds(&self, segments: &Range<usize>, term: &Term) -> bool {
        let in_segment = |segment: &Segment| segment.words.contains(term) || segment.header.contains(term);
        self.segments[segments.clone()].iter().any(in_segment) || self.context.contains(term)
    }

    fn missing_number(&self, claim: &Claim, place: &Place) -> Option<String> {
        let segments = &self.segments[place.segments.clone()];
        let has_dates = segments.iter().any(|segment| segment.words.iter().any(Term::is_date));
        let is_missing = |term: &&Term| !self.holds(&place.segments, term) && (has_dates || !term.is_date());
        let missing = claim.numbers().filter(is_missing).min_by_key(|term| (term.text.len(), &term.text))?;
        Some(missing.text.clone())
    }

    /// A number of the claim that the place has with another unit only.
    fn measure_with_another_unit<'c>(&self, claim: &'c Claim, place: &Place) -> Option<&'c Measure> {
        let text = &self.text[self.range_of(place)];
        let measured = claim.measures.iter().filter(|measure| !measure.is_bare());
        let mut measured = measured.peekable();
        measured.peek()?;
        let (here, said) = (measures(text), self.said_at(place, text));
        measured.into_iter().find(|measure| {
            let mut same = here.iter().filter(|other| other.number == measure.number).peekable();
            let agrees = |other: &Measure| {
                other.is_bare()
                    || (measure.units.iter().all(|unit| other.units.contains(unit))
                        && measure.others.iter().all(|other| said.contains(other)))
            };
            same.peek().is_some() && !same.any(agrees)
        })
    }

    /// Every unit and every stem of a place, of its headers and headings too.
    fn said_at(&self, place: &Place, text: &str) -> HashSet<String> {
        let headers = self.segments[place.segments.clone()].iter().flat_map(|segment| &segment.header);
        let around = headers.chain(&self.context);
        let mut said = said(text);
        said.extend(around.map(|term| unit(&term.text).map_or_else(|| term.text.clone(), str::to_owned)));
        said
    }

    /// A number of the claim that stands in a row which holds fewer of the claim's other words than some row that
    /// has a number of its own instead.
    fn number_of_another_row(&self, claim: &Claim, place: &Place) -> Option<String> {
        let here = &self.segments[place.segments.start];
        let number = claim.numbers().filter(|term| here.words.contains(*term)).min_by_key(|term| &term.text)?;
        if !here.is_row || claim.is_code {
            return None;
        }
        let words =
            |segment: &Segment| claim.words.iter().filter(|t| !t.has_digits && segment.words.contains(*t)).count();
        let rivals = self.segments.iter().filter(|other| {
            other.is_row && !other.words.contains(number) && other.words.iter().any(|term| term.has_digits)
        });
        rivals.map(words).any(|count| count > words(here)).then(|| number.text.clone())
    }

    fn has_word(&self, stem: &str) -> bool {
        self.words.iter().any(|term| term.text == stem)
    }

    /// Whether the passage, its title or its headings have a name, in whatever form.
    fn names(&self, name: &str) -> bool {
        let shares = |term: &Term| {
            let shared = term.text.chars().zip(name.chars()).take_while(|(one, other)| one == other).count();
            term.text == name || shared >= NAME_LETTERS
        };
        self.words.iter().any(shares)
    }

    /// Whether the passage has a word that begins like another, or that the other begins with.
    fn has_root_of(&self, word: &str) -> bool {
        let is_root = |root: &str, word: &str| root.chars().count() >= ROOT_LETTERS && word.starts_with(root);
        self.words.iter().any(|term| is_root(&term.text, word) || is_root(word, &term.text))
    }

    /// A claim that says "not" needs a passage that does; one that does not must not repeat what the passage denies.
    fn agrees_on_negation(&self, claim: &Claim, place: &Place) -> bool {
        if claim.is_code {
            return true;
        }
        let text = &self.text[self.range_of(place)];
        if claim.is_negated { negates(text) || excludes(text) } else { !denies_any(text, &claim.words) }
    }

    fn range_of(&self, place: &Place) -> Range<usize> {
        let segments = &self.segments[place.segments.clone()];
        let start = segments.first().map_or(0, |segment| segment.range.start);
        start..segments.last().map_or(self.text.len(), |segment| segment.range.end)
    }
}

/// Segments that follow each other, with what they hold of a claim.
struct Place {
    segments: Range<usize>,
    share: f32,
    numbers: usize,
}

impl Place {
    fn holds_less_than(&self, other: &Self) -> bool {
        self.numbers < other.numbers || self.share < other.share
    }

    /// More numbers first, then more words; of equals the earlier.
    fn order(one: &Self, other: &Self) -> std::cmp::Ordering {
        one.numbers
            .cmp(&other.numbers)
            .then(one.share.total_cmp(&other.share))
            .then(other.segments.start.cmp(&one.segments.start))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use super::*;

    const PASSAGE: &str = "The Contractor is paid 310 euros per metre. Standby time is paid at 145 euros per hour. \
                           Boats are extra.";
    const TABLE: &str = "Wind is read at the mast.\n\n| Mean wind | What stops |\n|---|---|\n\
                         | over 12 m/s | drone flights and work from the small boat |\n\
                         | over 20 m/s | all field work, drilling included |\n";

    fn judged(passage: &str, claim: &str) -> Result<String, DoubtReason> {
        let support = Evidence::new(passage, "Weather limits").judge(&Claim::new(claim));
        support.map(|support| passage[support.range].to_owned()).map_err(|doubt| doubt.reason)
    }

    #[test]
    fn a_paraphrase_is_supported_and_quoted_at_its_sentence() {
        let quote = judged(PASSAGE, "For standby time, 145 euros are paid per hour.").unwrap();
        assert_eq!(quote, "Standby time is paid at 145 euros per hour.");
    }

    #[test]
    fn a_wrong_number_is_not_supported() {
        let claim = "Standby time is paid at 155 euros per hour.";
        assert_eq!(judged(PASSAGE, claim), Err(DoubtReason::Number("155".to_owned())));
    }

    #[test]
    fn another_topic_is_not_supported() {
        assert_eq!(judged(PASSAGE, "Bread is baked with rye flour."), Err(DoubtReason::Words));
    }

    #[test]
    fn two_sentences_are_quoted_where_both_are_needed() {
        let quote = judged(PASSAGE, "310 euros per metre and 145 euros per hour of standby time.").unwrap();
        assert!(quote.contains("310") && quote.contains("145") && !quote.contains("Boats"));
    }

    #[test]
    fn a_number_from_another_row_is_found_out() {
        let right = "All field work stops at a mean wind over 20 m/s.";
        assert_eq!(judged(TABLE, right).unwrap(), "| over 20 m/s | all field work, drilling included |");
        let wrong = "All field work stops at a mean wind of 12 m/s.";
        assert_eq!(judged(TABLE, wrong), Err(DoubtReason::OtherRow("12".to_owned())));
        assert!(judged(TABLE, "Drone flights stop at a mean wind of 12 m/s.").is_ok());
    }

    #[test]
    fn names_must_stand_in_the_passage_or_its_headings() {
        let passage = "Normandy was ruled by Rollo from 911 on.";
        assert!(judged(passage, "The Norman who ruled from 911 on was Rollo.").is_ok());
        assert_eq!(
            judged(passage, "From 911 on Normandy was ruled by Harold."),
            Err(DoubtReason::Name("Harold".to_owned()))
        );
        assert!(judged(passage, "Under Weather Limits: Rollo ruled Normandy from 911.").is_ok());
    }

    #[test]
    fn a_name_that_begins_a_sentence_must_stand_there_too() {
        let passage = "Normandy was ruled by Rollo from 911 on.";
        let unnamed =
            |claim| assert_eq!(judged(passage, claim), Err(DoubtReason::Name("Harold".to_owned())), "{claim}");
        unnamed("Harold ruled Normandy from 911.");
        unnamed("**Harold** ruled Normandy from 911 on.");
        for claim in
            ["Rollo ruled Normandy from 911.", "Normandy was ruled by Rollo.", "Normans were ruled by Rollo from 911."]
        {
            assert!(judged(passage, claim).is_ok(), "{claim}");
        }
        let paraphrase = judged(PASSAGE, "Payment is 145 euros per hour of standby time.");
        assert!(paraphrase.is_ok(), "a common noun is no name: {paraphrase:?}");
        assert!(judged("Heavy rain fell on Sunday at the mast.", "Rainfall was heavy on Sunday at the mast.").is_ok());
    }

    #[test]
    fn a_number_stands_there_with_its_unit() {
        let other = |claim, written: &str| {
            assert_eq!(judged(PASSAGE, claim), Err(DoubtReason::Unit(written.to_owned())), "{claim}");
        };
        other("Standby time is paid at 145 dollars per hour.", "145 dollars per hour");
        other("Standby time is paid at $145 per hour.", "$145 per hour");
        other("Standby time is paid at 145 euros per day.", "145 euros per day");
        other("Standby time is paid at 145 % of it.", "145 %");
        for claim in [
            "Standby time is paid at €145 per hour.",
            "145 EUR/h are paid for standby time.",
            "Standby is paid at 145.",
        ] {
            assert!(judged(PASSAGE, claim).is_ok(), "{claim}");
        }
        assert!(judged(TABLE, "Drone flights stop at a mean wind over 12 metres per second.").is_ok());
        assert!(judged("| Item | Cost |\n|---|---|\n| Standby | 145 |", "Standby costs 145 euros.").is_ok());
        assert!(judged("Notice of 21 days ends the contract.", "A 21-day notice ends the contract.").is_ok());
        assert_eq!(
            judged("The fleet has 12 boats at the pier.", "The fleet has 12 lorries at the pier."),
            Err(DoubtReason::Unit("12 lorries".to_owned()))
        );
    }

    #[test]
    fn a_date_is_compared_as_a_whole() {
        let claims = [
            "The station was opened on 3 May 1962.",
            "The station opened on May 3rd, 1962.",
            "It opened as a station in 1962.",
        ];
        for date in ["1962-05-03", "03.05.1962", "3rd of May 1962", "3 May 1962"] {
            let passage = format!("The station was opened on {date}.");
            for claim in claims {
                assert!(judged(&passage, claim).is_ok(), "{claim} {date}");
            }
            let wrong = judged(&passage, "The station was opened on 5 May 1962.");
            assert_eq!(wrong, Err(DoubtReason::Number("5".to_owned())), "{date}");
        }
        let two = "The station was opened on 3 May 1962 and closed on 5 June 1963.";
        let mixed = judged(two, "The station was opened on 5 May 1962.");
        assert_eq!(mixed, Err(DoubtReason::Number("1962-05-05".to_owned())));
        assert!(judged("In 1962 the station was opened, on 3 May.", "The station was opened on 3 May 1962.").is_ok());
    }

    #[test]
    fn code_rests_on_the_lines_of_a_passage() {
        let passage = "Install it first.\n\n    let mast = open_mast(12);\n    mast.read_wind()?;\n\nThen wait.";
        let judge = |code: &str| Evidence::new(passage, "").judge(&Claim::of_code(code));
        let support = judge("let mast = open_mast(12);\nmast.read_wind()?;\n").unwrap();
        assert!(passage[support.range].trim_end().ends_with("read_wind()?;"));
        assert_eq!(judge("let mast = open_mast(13);").unwrap_err().reason, DoubtReason::Number("13".to_owned()));
        let other = judge("let mast = open_mast(12);\nmast.close_all()?;").unwrap_err();
        assert_eq!(other.reason, DoubtReason::Name("mast.close_all".to_owned()));
        assert_eq!(judge("print('whales')").unwrap_err().reason, DoubtReason::Words);
    }

    #[test]
    fn both_or_neither_say_not() {
        let passage = "The boat does not sail on Sunday, and the shop is open.";
        assert_eq!(judged(passage, "The boat does sail on Sunday."), Err(DoubtReason::Negation));
        assert!(judged(passage, "The boat doesn't sail on Sunday.").is_ok());
        assert!(judged(passage, "The shop is open.").is_ok());
        let standby = "Time in which the rig cannot work for a reason of the Trust is standby and paid at 145 euros.";
        assert!(judged(standby, "Standby is paid at 145 euros.").is_ok(), "what is denied is another thing");
        assert_eq!(judged("邮船星期日不开往大陆。", "邮船星期日开往大陆。"), Err(DoubtReason::Negation));
        assert!(judged("风大时船不开，夏季邮船每天一班。", "夏季邮船每天一班。").is_ok());
        assert!(judged("The boat sails daily except Sunday.", "The boat does not sail on Sunday.").is_ok());
    }

    #[test]
    fn a_quotation_must_stand_there_word_for_word() {
        assert!(judged(PASSAGE, "It says “paid at 145 euros” for standby time.").is_ok());
        let wrong = "It says “paid 145 euros” for standby time per hour.";
        assert_eq!(judged(PASSAGE, wrong), Err(DoubtReason::Quotation));
    }

    #[test]
    fn a_passage_without_sentences_supports_nothing() {
        assert_eq!(judged(" ", "Boats are extra."), Err(DoubtReason::Words));
    }
}
