//! A configured chunker as one word of text: `semantic:size=200,min=60,threshold=p95,unit=tokens`.

use std::fmt;
use std::str::FromStr;

use serde::de::DeserializeOwned;

use super::{ChunkerConfig, ChunkerKind, Unit};

/// Why a text describes no chunker.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SpecError(String);

impl ChunkerConfig {
    /// Reads `kind` or `kind:key=value,…` with the keys `size`, `overlap`, `min`, `threshold`, `window` and `unit`;
    /// what is not said is taken from `base`.
    ///
    /// # Errors
    /// The chunker or a key is unknown, a value does not fit, or the numbers do not fit each other.
    pub fn parse(text: &str, base: &Self) -> Result<Self, SpecError> {
        let (kind, pairs) = text.split_once(':').unwrap_or((text, ""));
        let mut config = Self { kind: named(kind.trim())?, ..base.clone() };
        for pair in pairs.split(',').filter(|pair| !pair.trim().is_empty()) {
            let (key, value) = pair
                .split_once('=')
                .ok_or_else(|| SpecError(format!("{pair:?} is no `key=value` in the chunker {text:?}")))?;
            config.set(key.trim(), value.trim())?;
        }
        config.validate().map_err(|err| SpecError(err.to_string()))?;
        Ok(config)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), SpecError> {
        match key {
            "size" => self.size = number(key, value)?,
            "overlap" => self.overlap = number(key, value)?,
            "min" => self.min_size = number(key, value)?,
            "window" => self.window = number(key, value)?,
            "threshold" => self.threshold = value.parse().map_err(SpecError)?,
            "unit" => self.unit = named(value)?,
            _ => {
                let known = "size, overlap, min, threshold, window, unit";
                return Err(SpecError(format!("a chunker has no {key:?}: expected one of {known}")));
            }
        }
        Ok(())
    }
}

fn number(key: &str, value: &str) -> Result<usize, SpecError> {
    value.parse().map_err(|_| SpecError(format!("{key} is {value:?} but must be a whole number")))
}

/// A value by the name that it has in JSON.
fn named<T: DeserializeOwned>(name: &str) -> Result<T, SpecError> {
    serde_json::from_value(serde_json::Value::String(name.to_lowercase())).map_err(|err| SpecError(err.to_string()))
}

impl FromStr for ChunkerConfig {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text, &Self { overlap: 0, ..Self::default() })
    }
}

impl fmt::Display for ChunkerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

impl fmt::Display for ChunkerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:size={}", self.kind, self.size)?;
        for (key, value) in [("overlap", self.overlap), ("min", self.min_size)] {
            if value > 0 {
                write!(f, ",{key}={value}")?;
            }
        }
        if self.kind.has_threshold() {
            write!(f, ",threshold={}", self.threshold)?;
        }
        if self.kind == ChunkerKind::Semantic && self.window > 1 {
            write!(f, ",window={}", self.window)?;
        }
        if self.unit == Unit::Tokens { write!(f, ",unit=tokens") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;
    use crate::chunk::Threshold;

    #[test]
    fn every_chunker_reads_as_it_is_written() {
        for kind in ChunkerKind::ALL {
            let config =
                ChunkerConfig { kind, overlap: 7, min_size: 20, unit: Unit::Tokens, ..ChunkerConfig::default() };
            assert_eq!(config.to_string().parse::<ChunkerConfig>().unwrap(), config);
        }
        let config: ChunkerConfig = "semantic:size=200,threshold=p95,window=3".parse().unwrap();
        assert_eq!((config.size, config.threshold, config.window), (200, Threshold::Percentile(95.0), 3));
        assert_eq!(config.to_string(), "semantic:size=200,threshold=p95,window=3");
    }

    #[test]
    fn wrong_texts_say_what_was_expected() {
        for (text, expected) in [
            ("semantik", "unknown variant"),
            ("fixed:size", "no `key=value`"),
            ("fixed:length=3", "expected one of size"),
            ("fixed:size=many", "whole number"),
            ("fixed:size=10,overlap=10", "less than size"),
            ("semantic:threshold=2", "between 0 and 1"),
        ] {
            let err = text.parse::<ChunkerConfig>().unwrap_err().to_string();
            assert!(err.contains(expected), "{text}: {err}");
        }
    }
}
