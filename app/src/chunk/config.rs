//! A configured chunker as a value, and what makes one valid.

use serde::{Deserialize, Serialize};

use super::ChunkError;

/// Which chunker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChunkerKind {
    /// Separators from coarse to fine, filled up to the size.
    #[default]
    Recursive,
    /// Headings first, then recursive; code fences and tables kept whole up to the cap.
    Markdown,
    /// Whole sentences, filled up to the size.
    Sentence,
    /// Cuts where the similarity of neighbouring segments falls below a threshold.
    Semantic,
    /// Headings first; small sections merged, large ones divided evenly at paragraphs and sentences.
    Structure,
    /// The division into runs of segments that hold together best (dynamic programming over similarities).
    Cluster,
    /// Windows of the size at the nearest word, whatever the text says: the baseline.
    Fixed,
    /// Whole paragraphs, filled up to the size; what is repeated is counted in words.
    Paragraph,
    /// Sentence by sentence: one joins the chunk if it is as close to it as the chunk's own sentences are.
    MaxMin,
    /// Functions and blocks of source code, found by its grammar.
    Code,
    /// Where a person cut.
    Manual,
}

impl ChunkerKind {
    /// All that cut by themselves, in the order in which people are shown them.
    pub const ALL: [Self; 10] = [
        Self::Recursive,
        Self::Markdown,
        Self::Structure,
        Self::Paragraph,
        Self::Sentence,
        Self::Semantic,
        Self::Cluster,
        Self::MaxMin,
        Self::Code,
        Self::Fixed,
    ];

    /// Whether it takes a threshold.
    pub fn has_threshold(self) -> bool {
        matches!(self, Self::Semantic | Self::MaxMin)
    }

    /// Whether it needs a vector for each segment; the others take vectors for the boundary curve alone.
    pub fn needs_vectors(self) -> bool {
        matches!(self, Self::Semantic | Self::Cluster | Self::MaxMin)
    }
}

/// What sizes are counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Unicode code points.
    #[default]
    Chars,
    /// Tokens of the embedder.
    Tokens,
}

/// Where the semantic chunkers cut. All but [`Threshold::Fixed`] follow the document's own similarities, so that one
/// setting suits texts that are alike throughout and texts that are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Threshold {
    /// Mean minus one standard deviation.
    #[default]
    Auto,
    /// A cosine from 0 to 1: 0 cuts nowhere (but at the cap), 1 nearly everywhere.
    Fixed(f32),
    /// Mean minus so many standard deviations, 0 to 10.
    Deviations(f32),
    /// The percentile of the distances (1 minus cosine) that a cut must pass, 0 to 100: 95 cuts at one boundary in 20.
    Percentile(f32),
    /// Mean distance plus so many interquartile ranges of the distances, 0 to 10.
    Interquartile(f32),
    /// The percentile of the distances' slope that a cut must pass, 0 to 100: cuts where the distance grows fastest.
    Gradient(f32),
}

/// A configured chunker, as a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChunkerConfig {
    /// Which chunker.
    pub kind: ChunkerKind,
    /// Hard cap on a chunk, in `unit`; at least 1.
    pub size: usize,
    /// Repeated from the end of the previous chunk, in `unit` (in words by the paragraph chunker); less than `size`.
    /// Only where the cap forced the cut: text is never repeated across a heading or a semantic cut.
    pub overlap: usize,
    /// Chunks smaller than this are merged with a neighbour where the cap allows it, in `unit`; at most `size`.
    pub min_size: usize,
    /// Semantic and max-min chunkers only.
    pub threshold: Threshold,
    /// Segments on each side of a boundary whose mean vectors are compared, 1 to 16; more smooths the curve.
    /// Semantic chunker only.
    pub window: usize,
    /// What `size`, `overlap` and `min_size` are counted in.
    pub unit: Unit,
    /// Separators of the recursive splitter, coarse to fine; empty means paragraphs, lines, sentences, clauses.
    pub separators: Vec<String>,
    /// Manual chunker only: bytes of the text where a chunk starts, strictly increasing.
    pub cuts: Vec<usize>,
}

/// Segments further away than this say nothing about a boundary.
const LARGEST_WINDOW: usize = 16;

impl Default for ChunkerConfig {
    fn default() -> Self {
        Self {
            kind: ChunkerKind::Recursive,
            size: 1000,
            overlap: 100,
            min_size: 0,
            threshold: Threshold::Auto,
            window: 1,
            unit: Unit::Chars,
            separators: Vec::new(),
            cuts: Vec::new(),
        }
    }
}

impl ChunkerConfig {
    /// Checks every parameter.
    ///
    /// # Errors
    /// The first parameter that is out of range, with what was found and what is allowed.
    pub fn validate(&self) -> Result<(), ChunkError> {
        let Self { size, overlap, min_size, .. } = self;
        if *size == 0 {
            return reject("size is 0 but must be at least 1".to_owned());
        }
        if overlap >= size {
            return reject(format!("overlap is {overlap} but must be less than size ({size})"));
        }
        if min_size > size {
            return reject(format!("min size is {min_size} but must be at most size ({size})"));
        }
        if !(1..=LARGEST_WINDOW).contains(&self.window) {
            return reject(format!("window is {} but must be from 1 to {LARGEST_WINDOW}", self.window));
        }
        if self.cuts.windows(2).any(|pair| pair[0] >= pair[1]) {
            return reject("cuts must strictly increase".to_owned());
        }
        self.validate_threshold()?;
        self.validate_separators()
    }

    fn validate_threshold(&self) -> Result<(), ChunkError> {
        let (name, value, highest) = match self.threshold {
            Threshold::Auto => return Ok(()),
            Threshold::Fixed(value) => ("threshold", value, 1.0),
            Threshold::Deviations(value) => ("number of deviations", value, 10.0),
            Threshold::Interquartile(value) => ("number of interquartile ranges", value, 10.0),
            Threshold::Percentile(value) | Threshold::Gradient(value) => ("percentile", value, 100.0),
        };
        if (0.0..=highest).contains(&value) {
            return Ok(());
        }
        reject(format!("{name} is {value} but must be between 0 and {highest}"))
    }

    fn validate_separators(&self) -> Result<(), ChunkError> {
        match self.separators.iter().position(String::is_empty) {
            Some(index) => {
                reject(format!("separator {} is empty; leave the list empty for the default separators", index + 1))
            }
            None => Ok(()),
        }
    }
}

fn reject(reason: String) -> Result<(), ChunkError> {
    Err(ChunkError::Config(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(change: impl FnOnce(&mut ChunkerConfig)) -> String {
        let mut config = ChunkerConfig::default();
        change(&mut config);
        config.validate().map_or_else(|err| err.to_string(), |()| "valid".to_owned())
    }

    #[test]
    fn default_is_valid() {
        assert_eq!(message(|_| ()), "valid");
        assert_eq!(message(|config| config.threshold = Threshold::Fixed(0.0)), "valid");
        assert_eq!(message(|config| config.threshold = Threshold::Fixed(1.0)), "valid");
    }

    #[test]
    fn configurations_of_before_are_read_with_the_defaults_of_what_they_lack() {
        let old = r#"{"kind":"semantic","size":700,"overlap":0,"min_size":120,"threshold":{"fixed":0.4},"unit":"chars",
            "separators":[]}"#;
        let config: ChunkerConfig = serde_json::from_str(old).unwrap_or_default();
        assert_eq!((config.size, config.window, config.threshold), (700, 1, Threshold::Fixed(0.4)));
    }

    #[test]
    fn each_parameter_is_checked_with_its_reason() {
        assert!(message(|config| config.size = 0).contains("at least 1"));
        assert!(message(|config| config.overlap = 1000).contains("less than size (1000)"));
        assert!(message(|config| config.min_size = 1001).contains("at most size (1000)"));
        assert!(message(|config| config.threshold = Threshold::Fixed(1.5)).contains("between 0 and 1"));
        assert!(message(|config| config.threshold = Threshold::Fixed(f32::NAN)).contains("threshold is NaN"));
        assert!(message(|config| config.threshold = Threshold::Percentile(101.0)).contains("between 0 and 100"));
        assert!(message(|config| config.window = 0).contains("from 1 to 16"));
        assert!(message(|config| config.separators = vec!["\n".into(), String::new()]).contains("separator 2"));
    }
}
