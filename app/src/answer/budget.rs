//! How many whole passages fit, and how much of what stands around them: the prompt's share of the context.

use std::convert::Infallible;

use super::ask::Widened;
use super::passage::Passage;
use super::{GenerateError, Generator, prompt};
use crate::retrieve::SearchHit;

/// Most tokens of a prompt: a small model reads more neither well nor quickly on a CPU.
const MAX_PROMPT_TOKENS: usize = 1280;
/// Most characters around all hits together where no model's context is the measure.
const MOST_AROUND_CHARS: usize = 20_000;
/// Left free for the chat template.
const TEMPLATE_TOKENS: usize = 64;

/// What fits.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fit {
    /// Hits from the front that fit whole, with as many chunks around them as there is room for.
    pub(super) hits: Vec<SearchHit>,
    /// Tokens that may be generated.
    pub(super) answer_tokens: usize,
}

/// Chunks before and after a hit.
pub(super) type Around = (usize, usize);

/// Takes hits from the front while they fit whole beside `frame` (everything else in the prompt) and the answer. Around
/// each of them grows what fits of up to `neighbours` chunks on either side, the nearest first; a hit that lies in
/// one before it is left out.
///
/// # Errors
/// Not even the first hit fits, or the generator cannot count.
pub(super) fn fit(
    generator: &mut dyn Generator,
    frame: &str,
    surroundings: &Surroundings<'_>,
    max_answer_tokens: usize,
) -> Result<Fit, GenerateError> {
    let context = generator.context_tokens();
    let answer_tokens = max_answer_tokens.clamp(1, (context / 2).max(1));
    let room_tokens = context.saturating_sub(answer_tokens).min(MAX_PROMPT_TOKENS);
    let mut used = generator.count_tokens(frame)? + TEMPLATE_TOKENS;
    let mut hits: Vec<SearchHit> = Vec::new();
    for hit in surroundings.hits {
        if surroundings.neighbours > 0 && hits.iter().any(|other| holds(other, hit)) {
            continue;
        }
        let number = hits.len() as u32 + 1;
        let tokens = count(generator, number, hit)?;
        if used + tokens > room_tokens {
            if hits.is_empty() {
                return Err(GenerateError::TooLong { prompt_tokens: used + tokens, room_tokens });
            }
            break;
        }
        let mut measure = |hit: &SearchHit| count(generator, number, hit);
        let (hit, tokens) = widen(surroundings, (hit, tokens), room_tokens - used, &mut measure)?;
        used += tokens;
        hits.push(hit);
    }
    Ok(Fit { hits, answer_tokens })
}

/// The hit, of the size given, with the chunks around it that fit into `room`, and its size then.
fn widen<E>(
    surroundings: &Surroundings<'_>,
    (hit, size): (&SearchHit, usize),
    room: usize,
    measure: &mut dyn FnMut(&SearchHit) -> Result<usize, E>,
) -> Result<(SearchHit, usize), E> {
    let mut best = (hit.clone(), size);
    let mut around: Around = (0, 0);
    for _ in 0..surroundings.neighbours {
        let before = best.0.chunk.text.len();
        for next in [(around.0 + 1, around.1), (around.0 + 1, around.1 + 1)] {
            let Some(wider) = (surroundings.widened)(hit, next) else {
                return Ok(best);
            };
            if wider.chunk.text != best.0.chunk.text {
                let size = measure(&wider)?;
                if size > room {
                    return Ok(best);
                }
                best = (wider, size);
            }
            around = next;
        }
        if best.0.chunk.text.len() == before {
            break;
        }
    }
    Ok(best)
}

fn count(generator: &mut dyn Generator, number: u32, hit: &SearchHit) -> Result<usize, GenerateError> {
    generator.count_tokens(&prompt::source(&Passage { number, hit }))
}

/// Hits with what stands around them.
pub(super) struct Surroundings<'a> {
    /// The hits, best first.
    pub(super) hits: &'a [SearchHit],
    /// Chunks wanted on either side.
    pub(super) neighbours: usize,
    /// See [`super::Question::widened`].
    pub(super) widened: &'a Widened<'a>,
}

impl Surroundings<'_> {
    /// All hits, whole, with what is wanted around them as far as [`MOST_AROUND_CHARS`] go, the best first; one that
    /// lies in a better one is left out.
    pub(super) fn all(&self) -> Vec<SearchHit> {
        if self.neighbours == 0 {
            return self.hits.to_vec();
        }
        let mut hits: Vec<SearchHit> = Vec::new();
        let chars = |hit: &SearchHit| hit.chunk.text.chars().count();
        let mut left = MOST_AROUND_CHARS;
        for hit in self.hits {
            if !hits.iter().any(|other| holds(other, hit)) {
                let size = chars(hit);
                let mut measure = |hit: &SearchHit| Ok::<_, Infallible>(chars(hit));
                let Ok((wide, wide_size)) = widen(self, (hit, size), size + left, &mut measure);
                left = left.saturating_sub(wide_size.saturating_sub(size));
                hits.push(wide);
            }
        }
        hits
    }
}

/// Whether a widened hit has all of another in it.
fn holds(wide: &SearchHit, hit: &SearchHit) -> bool {
    let (wide, chunk) = (&wide.chunk, &hit.chunk);
    wide.document == chunk.document && wide.start <= chunk.start && chunk.end <= wide.end
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use proptest::prelude::*;

    use super::*;
    use crate::answer::fake::FakeGenerator;
    use crate::answer::samples::hits;

    /// Tokens that a source has beside its text: the fake generator counts words.
    const SOURCE_TOKENS: usize = 7;

    fn words(count: usize) -> String {
        vec!["word"; count].join(" ")
    }

    /// Hits of so many tokens each, as sources.
    fn hits_of(sizes: &[usize]) -> Vec<SearchHit> {
        let texts: Vec<String> = sizes.iter().map(|size| words(*size - SOURCE_TOKENS)).collect();
        hits(&texts.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn fit_of(context: usize, frame: usize, hits: &[SearchHit], answer: usize) -> Result<Fit, GenerateError> {
        let mut generator = FakeGenerator::saying("").with_context(context);
        let surroundings = Surroundings { hits, neighbours: 0, widened: &|_, _| None };
        fit(&mut generator, &words(frame), &surroundings, answer)
    }

    /// A hit amid chunks of 50 words, each 500 bytes from the next; there are 4 before it and 3 after it.
    fn amid(hit: &SearchHit, (before, after): Around) -> SearchHit {
        let (before, after) = (before.min(4), after.min(3));
        let mut wide = hit.clone();
        let around = |from: usize, count: usize| {
            (from..from + count).flat_map(|at| [format!(" {at}"), " near".repeat(49)]).collect::<String>()
        };
        wide.chunk.text = format!("{} {}{}", around(10 - before, before), hit.chunk.text, around(20, after));
        (wide.chunk.start, wide.chunk.end) = (hit.chunk.start - 500 * before / 4, hit.chunk.end + 500 * after);
        wide
    }

    fn fit_amid(hits: &[SearchHit], neighbours: usize, context: usize) -> Fit {
        let mut generator = FakeGenerator::saying("").with_context(context);
        fit(
            &mut generator,
            "",
            &Surroundings { hits, neighbours, widened: &|hit, around| Some(amid(hit, around)) },
            100,
        )
        .unwrap()
    }

    #[test]
    fn passages_are_taken_whole_from_the_front() {
        let fit = fit_of(500, 20, &hits_of(&[100, 100, 300, 15]), 100).unwrap();
        assert_eq!(fit.hits.len(), 2);
    }

    #[test]
    fn a_first_passage_that_does_not_fit_is_an_error() {
        let err = fit_of(500, 0, &hits_of(&[1000]), 100).unwrap_err();
        assert_eq!(err, GenerateError::TooLong { prompt_tokens: 1064, room_tokens: 400 });
    }

    #[test]
    fn the_farthest_neighbours_leave_first_where_not_all_fit() {
        let hits = hits_of(&[100]);
        let near = |fit: &Fit| -> Vec<String> {
            let words = fit.hits[0].chunk.text.split_whitespace();
            words.filter(|word| word.parse::<u32>().is_ok()).map(str::to_owned).collect()
        };
        // 400 tokens of room, 64 of them for the template and 100 for the hit: four chunks of 50 fit, not five.
        assert_eq!(near(&fit_amid(&hits, 9, 500)), ["8", "9", "20", "21"]);
        assert_eq!(near(&fit_amid(&hits, 1, 500)), ["9", "20"], "no more than was asked for");
        assert_eq!(near(&fit_amid(&hits, 2, 330)), ["9"], "the one before comes first");
        assert!(near(&fit_amid(&hits, 100_000, 290)).is_empty(), "the hit alone");
        assert_eq!(near(&fit_amid(&hits, 100_000, 4000)).len(), 7, "there are no more");
    }

    #[test]
    fn a_later_passage_takes_what_the_ones_before_it_leave() {
        let fit = fit_amid(&hits_of(&[100, 60, 100]), 1, 500);
        let lengths = fit.hits.iter().map(|hit| hit.chunk.text.split_whitespace().count()).collect::<Vec<_>>();
        assert_eq!(lengths, [193, 103], "the second with one chunk, the third not at all");
    }

    #[test]
    fn a_hit_that_lies_in_a_wider_one_is_left_out() {
        let mut hits = hits_of(&[30, 30]);
        hits[1].chunk.document = hits[0].chunk.document;
        (hits[1].chunk.start, hits[1].chunk.end) = (hits[0].chunk.end, hits[0].chunk.end + 400);
        assert_eq!(fit_amid(&hits, 1, 500).hits.len(), 1);
        assert_eq!(fit_amid(&hits, 0, 500).hits.len(), 2);
        let all = |neighbours| {
            Surroundings { hits: &hits, neighbours, widened: &|hit, around| Some(amid(hit, around)) }.all().len()
        };
        assert_eq!((all(0), all(1)), (2, 1));
    }

    #[test]
    fn without_a_model_what_stands_around_is_bounded_too() {
        let hits = hits_of(&[30, 30]);
        let long = |hit: &SearchHit, (before, after): Around| {
            let mut wide = hit.clone();
            wide.chunk.text = "x".repeat(hit.chunk.text.len() + 900 * (before + after));
            Some(wide)
        };
        let all = Surroundings { hits: &hits, neighbours: 100_000, widened: &long }.all();
        let around: usize = all.iter().zip(&hits).map(|(wide, hit)| wide.chunk.text.len() - hit.chunk.text.len()).sum();
        assert!(all.len() == 2 && around > MOST_AROUND_CHARS / 2 && around <= MOST_AROUND_CHARS, "{around}");
    }

    proptest! {
        #[test]
        fn prompt_and_answer_never_pass_the_context(
            context in 64_usize..8192,
            max_answer_tokens in 0_usize..9000,
            frame in 0_usize..200,
            neighbours in 0_usize..6,
            sizes in proptest::collection::vec(9_usize..600, 1..14),
        ) {
            let mut generator = FakeGenerator::saying("").with_context(context);
            let hits = hits_of(&sizes);
            let surroundings = Surroundings { hits: &hits, neighbours, widened: &|hit, around| Some(amid(hit, around)) };
            if let Ok(fit) = fit(&mut generator, &words(frame), &surroundings, max_answer_tokens) {
                let sources = fit.hits.iter().zip(1..).map(|(hit, number)| prompt::source(&Passage { number, hit }));
                let used: usize = sources.map(|source| generator.count_tokens(&source).unwrap()).sum();
                prop_assert!(!fit.hits.is_empty() && fit.answer_tokens >= 1);
                prop_assert!(used + frame + TEMPLATE_TOKENS + fit.answer_tokens <= context);
            }
        }
    }
}
