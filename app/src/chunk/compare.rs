//! Two chunkings of one text in numbers: which cuts they share, and how well each follows the text's meaning.

use serde::{Deserialize, Serialize};

use super::{Boundary, Chunk};

/// Cuts of a chunking that another one has too. The start of the text is no cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreement {
    /// Cuts in both.
    pub shared: usize,
    /// Cuts that only this one has.
    pub own: usize,
    /// Cuts that only the other one has.
    pub missing: usize,
}

impl Agreement {
    /// Compares `ours` with `theirs`.
    pub fn of(ours: &[Chunk], theirs: &[Chunk]) -> Self {
        let cuts = |chunks: &[Chunk]| chunks.iter().skip(1).map(|chunk| chunk.start).collect::<Vec<_>>();
        let (ours, theirs) = (cuts(ours), cuts(theirs));
        let shared = ours.iter().filter(|cut| theirs.binary_search(cut).is_ok()).count();
        Self { shared, own: ours.len() - shared, missing: theirs.len() - shared }
    }

    /// Shared cuts as a part of all (F1), 0 to 1; 1 where neither cuts.
    pub fn share(self) -> f64 {
        let all = 2 * self.shared + self.own + self.missing;
        if all == 0 { 1.0 } else { 2.0 * self.shared as f64 / all as f64 }
    }
}

/// Mean similarity of neighbouring segments where a chunking cuts and where it does not. A chunking that follows the
/// meaning has the higher one inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cohesion {
    /// Inside chunks.
    pub inside: f32,
    /// At cuts.
    pub at_cuts: f32,
}

impl Cohesion {
    /// From the curve; `None` without one.
    pub fn of(chunks: &[Chunk], curve: &[Boundary]) -> Option<Self> {
        if curve.is_empty() {
            return None;
        }
        let is_cut = |boundary: &Boundary| chunks.binary_search_by_key(&boundary.position, |chunk| chunk.start).is_ok();
        let mean = |wanted: bool| {
            let (mut sum, mut count) = (0.0_f64, 0_usize);
            for boundary in curve.iter().filter(|boundary| is_cut(boundary) == wanted) {
                sum += f64::from(boundary.similarity);
                count += 1;
            }
            (sum / count.max(1) as f64) as f32
        };
        Some(Self { inside: mean(false), at_cuts: mean(true) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks(starts: &[usize]) -> Vec<Chunk> {
        let chunk = |&start: &usize| Chunk { start, end: start + 1, left_similarity: None, right_similarity: None };
        starts.iter().map(chunk).collect()
    }

    #[test]
    fn shared_cuts_are_counted_without_the_start() {
        let agreement = Agreement::of(&chunks(&[0, 4, 8]), &chunks(&[0, 8, 9, 12]));
        assert_eq!(agreement, Agreement { shared: 1, own: 1, missing: 2 });
        assert!((agreement.share() - 2.0 / 5.0).abs() < 1e-12);
        assert!((Agreement::of(&chunks(&[0]), &chunks(&[])).share() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn cohesion_parts_cuts_from_the_rest() {
        let boundary = |position, similarity| Boundary { position, similarity };
        let curve = [boundary(4, 0.8), boundary(8, 0.2), boundary(12, 0.6)];
        let cohesion = Cohesion::of(&chunks(&[0, 8]), &curve).unwrap_or_default();
        assert!((cohesion.inside - 0.7).abs() < 1e-6 && (cohesion.at_cuts - 0.2).abs() < 1e-6);
        assert_eq!(Cohesion::of(&chunks(&[0]), &[]), None);
    }
}
