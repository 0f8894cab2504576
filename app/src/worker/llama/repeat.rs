//! Notices a small model that goes round in circles.

/// Longest circle looked for, in tokens.
const MAX_PERIOD: usize = 64;
/// Rounds that make a circle.
const ROUNDS: usize = 3;
/// Shortest stretch that counts: rows of dashes and the like are short.
const MIN_STRETCH: usize = 36;

/// Whether `tokens` end in the same sequence several times over.
pub(super) fn is_looping<T: PartialEq>(tokens: &[T]) -> bool {
    (1..=MAX_PERIOD).any(|period| {
        let stretch = (period * ROUNDS).max(MIN_STRETCH);
        tokens.len() >= stretch && {
            let tail = &tokens[tokens.len() - stretch..];
            tail[period..].iter().zip(tail).all(|(a, b)| a == b)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_found() {
        let round: Vec<u32> = (0..20).collect();
        let tokens: Vec<u32> = [99, 98].into_iter().chain(round.repeat(3)).collect();
        assert!(is_looping(&tokens));
        assert!(!is_looping(&tokens[..50]));
    }

    #[test]
    fn text_and_short_runs_are_not_circles() {
        let tokens: Vec<u32> = (0..500).map(|at| at * at % 251).collect();
        assert!(!is_looping(&tokens));
        assert!(!is_looping(&[7; 20]));
        assert!(is_looping(&[7; 40]));
    }
}
