//! How many whole passages fit: the prompt's share of the context.

use super::{GenerateError, Generator};

/// Most tokens of a prompt: a small model reads more neither well nor quickly on a CPU.
const MAX_PROMPT_TOKENS: usize = 1280;
/// Left free for the chat template.
const TEMPLATE_TOKENS: usize = 64;

/// What fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fit {
    /// Passages from the front that fit whole.
    pub(super) passages: usize,
    /// Tokens that may be generated.
    pub(super) answer_tokens: usize,
}

/// Takes passages from the front while they fit whole beside `frame` (everything else in the prompt) and the
/// answer.
///
/// # Errors
/// Not even the first passage fits, or the generator cannot count.
pub(super) fn fit(
    generator: &mut dyn Generator,
    frame: &str,
    passages: &[String],
    max_answer_tokens: usize,
) -> Result<Fit, GenerateError> {
    let context = generator.context_tokens();
    let answer_tokens = max_answer_tokens.clamp(1, (context / 2).max(1));
    let room_tokens = context.saturating_sub(answer_tokens).min(MAX_PROMPT_TOKENS);
    let mut used = generator.count_tokens(frame)? + TEMPLATE_TOKENS;
    let mut fitting = 0;
    for passage in passages {
        used += generator.count_tokens(passage)?;
        if used > room_tokens {
            break;
        }
        fitting += 1;
    }
    if fitting == 0 {
        return Err(GenerateError::TooLong { prompt_tokens: used, room_tokens });
    }
    Ok(Fit { passages: fitting, answer_tokens })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is the test's failure")]

    use proptest::prelude::*;

    use super::*;
    use crate::answer::fake::FakeGenerator;

    fn words(count: usize) -> String {
        vec!["word"; count].join(" ")
    }

    #[test]
    fn passages_are_taken_whole_from_the_front() {
        let mut generator = FakeGenerator::saying("").with_context(500);
        let passages = [words(100), words(100), words(300), words(5)];
        let fit = fit(&mut generator, &words(20), &passages, 100).unwrap();
        assert_eq!(fit.passages, 2);
    }

    #[test]
    fn a_first_passage_that_does_not_fit_is_an_error() {
        let mut generator = FakeGenerator::saying("").with_context(500);
        let err = fit(&mut generator, "", &[words(1000)], 100).unwrap_err();
        assert_eq!(err, GenerateError::TooLong { prompt_tokens: 1064, room_tokens: 400 });
    }

    proptest! {
        #[test]
        fn prompt_and_answer_never_pass_the_context(
            context in 64_usize..8192,
            max_answer_tokens in 0_usize..9000,
            frame in 0_usize..200,
            sizes in proptest::collection::vec(1_usize..600, 1..14),
        ) {
            let mut generator = FakeGenerator::saying("").with_context(context);
            let passages: Vec<String> = sizes.iter().map(|size| words(*size)).collect();
            if let Ok(fit) = fit(&mut generator, &words(frame), &passages, max_answer_tokens) {
                let used: usize = sizes[..fit.passages].iter().sum();
                prop_assert!(fit.passages >= 1 && fit.answer_tokens >= 1);
                prop_assert!(used + frame + TEMPLATE_TOKENS + fit.answer_tokens <= context);
            }
        }
    }
}
