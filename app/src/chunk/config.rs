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

/// Where the semantic chunker cuts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Threshold {
    /// Mean minus one standard deviation of the document's own similarities.
    #[default]
    Auto,
    /// A cosine from 0 to 1: 0 cuts nowhere (but at the cap), 1 nearly everywhere.
    Fixed(f32),
}

/// A configured chunker, as a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChunkerConfig {
    /// Which chunker.
    pub kind: ChunkerKind,
    /// Hard cap on a chunk, in `unit`; at least 1.
    pub size: usize,
    /// Repeated from the end of the previous chunk, in `unit`; less than `size`. Only where the cap forced the
    /// cut: text is never repeated across a heading or a semantic cut.
    pub overlap: usize,
    /// Chunks smaller than this are merged with a neighbour where the cap allows it, in `unit`; at most `size`.
    pub min_size: usize,
    /// Semantic chunker only.
    pub threshold: Threshold,
    /// What `size`, `overlap` and `min_size` are counted in.
    pub unit: Unit,
    /// Separators of the recursive splitter, coarse to fine; empty means paragraphs, lines, sentences, clauses.
    pub separators: Vec<String>,
}

impl Default for ChunkerConfig {
    fn default() -> Self {
        Self {
            kind: ChunkerKind::Recursive,
            size: 1000,
            overlap: 100,
            min_size: 0,
            threshold: Threshold::Auto,
            unit: Unit::Chars,
            separators: Vec::new(),
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
        self.validate_threshold()?;
        self.validate_separators()
    }

    fn validate_threshold(&self) -> Result<(), ChunkError> {
        match self.threshold {
            Threshold::Fixed(value) if !(0.0..=1.0).contains(&value) => {
                reject(format!("threshold is {value} but must be `auto` or between 0 and 1"))
            }
            _ => Ok(()),
        }
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
    fn each_parameter_is_checked_with_its_reason() {
        assert!(message(|config| config.size = 0).contains("at least 1"));
        assert!(message(|config| config.overlap = 1000).contains("less than size (1000)"));
        assert!(message(|config| config.min_size = 1001).contains("at most size (1000)"));
        assert!(message(|config| config.threshold = Threshold::Fixed(1.5)).contains("between 0 and 1"));
        assert!(message(|config| config.threshold = Threshold::Fixed(f32::NAN)).contains("threshold is NaN"));
        assert!(message(|config| config.separators = vec!["\n".into(), String::new()]).contains("separator 2"));
    }
}
