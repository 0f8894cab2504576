//! What is compared: a way to split, and what is embedded and indexed of its chunks.

use std::fmt;
use std::ops::Range;

use super::EvalError;
use super::published::{Recursive, found_again};
use crate::chunk::context::{Outline, surrounded, with_context};
use crate::chunk::{
    CharMeasure, ChunkInput, ChunkerConfig, Measure, Unit, VectorSource, WordMeasure, best_runs, build, segments,
};
use crate::embed::{Embedder, TextRole};
use crate::progress::CancelToken;

/// Special tokens that the published comparison counts around every piece.
const SPECIAL_TOKENS: usize = 2;

/// One of our chunkers, or a published one.
#[derive(Clone, Debug, PartialEq)]
pub enum Splitter {
    /// One of our chunkers.
    Configured(ChunkerConfig),
    /// The published recursive splitter, in tokens of the embedder with its two special tokens.
    PublishedRecursive {
        /// Largest sum of piece lengths.
        size: usize,
        /// Most that is repeated.
        overlap: usize,
    },
    /// The published cluster-semantic splitter over recursive pieces of 50 tokens.
    PublishedCluster {
        /// Largest chunk, as a multiple of the pieces.
        size: usize,
    },
}

/// A splitter, and what is embedded and indexed of each chunk. Scores always are of the chunk alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// What splits.
    pub splitter: Splitter,
    /// The headings over a chunk stand before it.
    pub context: bool,
    /// Sentences on each side of a chunk that are embedded and indexed with it.
    pub surround: usize,
}

impl From<Splitter> for Subject {
    fn from(splitter: Splitter) -> Self {
        Self { splitter, context: false, surround: 0 }
    }
}

impl Subject {
    /// Reads the text form of a chunker, or `published-recursive` or `published-cluster`, with the further keys
    /// `context=headings` and `surround=N`; what is not said is taken from `base`.
    ///
    /// # Errors
    /// What [`ChunkerConfig::parse`] refuses, and values of the further keys that are none.
    pub fn parse(text: &str, base: &ChunkerConfig) -> Result<Self, String> {
        let (name, pairs) = text.split_once(':').unwrap_or((text, ""));
        let (mut context, mut surround, mut kept) = (false, 0, Vec::new());
        for pair in pairs.split(',').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("context", "headings")) => context = true,
                Some(("context", value)) => return Err(format!("context is {value:?} but can be `headings` alone")),
                Some(("surround", value)) => {
                    surround =
                        value.parse().map_err(|_| format!("surround is {value:?} but must be a whole number"))?;
                }
                _ => kept.push(pair),
            }
        }
        let kept = kept.join(",");
        let parsed = |kind: &str| ChunkerConfig::parse(&format!("{kind}:{kept}"), base).map_err(|err| err.to_string());
        let splitter = match name {
            "published-recursive" => {
                let ChunkerConfig { size, overlap, .. } = parsed("recursive")?;
                Splitter::PublishedRecursive { size, overlap }
            }
            "published-cluster" => Splitter::PublishedCluster { size: parsed("recursive")?.size },
            _ => Splitter::Configured(parsed(name)?),
        };
        Ok(Self { splitter, context, surround })
    }

    /// What is embedded and indexed of each chunk of `text`.
    pub(super) fn passages(&self, text: &str, chunks: &[Range<usize>]) -> Vec<String> {
        let sentences = if self.surround > 0 { segments(text) } else { Vec::new() };
        let outline = if self.context { Outline::new(text) } else { Outline::default() };
        let passage = |chunk: &Range<usize>| {
            let shown = &text[surrounded(chunk, &sentences, self.surround)];
            with_context(outline.path_at(chunk.start).into_iter(), shown)
        };
        chunks.iter().map(passage).collect()
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.splitter {
            Splitter::Configured(config) => write!(f, "{config}")?,
            splitter => {
                let (size, overlap) = splitter.size_and_overlap();
                write!(f, "{}:size={size},overlap={overlap}", splitter.name())?;
            }
        }
        if self.context {
            write!(f, ",context=headings")?;
        }
        if self.surround > 0 { write!(f, ",surround={}", self.surround) } else { Ok(()) }
    }
}

/// Size of the pieces that the published cluster-semantic splitter puts together.
const CLUSTER_PIECE: usize = 50;

impl Splitter {
    /// The name in tables.
    pub fn name(&self) -> String {
        match self {
            Self::Configured(config) => format!("{:?}", config.kind).to_lowercase(),
            Self::PublishedRecursive { .. } => "published-recursive".to_owned(),
            Self::PublishedCluster { .. } => "published-cluster".to_owned(),
        }
    }

    pub(super) fn size_and_overlap(&self) -> (usize, usize) {
        match self {
            Self::Configured(config) => (config.size, config.overlap),
            Self::PublishedRecursive { size, overlap } => (*size, *overlap),
            Self::PublishedCluster { size } => (*size, 0),
        }
    }

    /// Byte ranges of the chunks of `text`.
    ///
    /// # Errors
    /// The configuration is out of range, or embedding failed.
    pub fn split(
        &self,
        text: &str,
        embedder: &dyn Embedder,
        cancel: &CancelToken,
    ) -> Result<Vec<Range<usize>>, EvalError> {
        match self {
            Self::Configured(config) => split_configured(config, text, embedder, cancel),
            Self::PublishedRecursive { size, overlap } => {
                let length = |piece: &str| embedder.count_tokens(piece) + SPECIAL_TOKENS;
                let pieces = Recursive { size: *size, overlap: *overlap, length: &length }.split(text);
                Ok(found_again(text, &pieces))
            }
            Self::PublishedCluster { size } => {
                // The publication counts these pieces with another model's tokenizer, which adds no special tokens.
                let length = |piece: &str| embedder.count_tokens(piece);
                let pieces = Recursive { size: CLUSTER_PIECE, overlap: 0, length: &length }.split(text);
                let texts: Vec<&str> = pieces.iter().map(|piece| &text[piece.clone()]).collect();
                let vectors = embedder.embed(&texts, TextRole::Passage, cancel, &mut |_| {})?;
                let longest = (size / CLUSTER_PIECE).max(1);
                let runs = best_runs(&vectors, embedder.dims(), &|run| run.len() <= longest);
                let chunks: Vec<Range<usize>> =
                    runs.into_iter().map(|run| pieces[run.start].start..pieces[run.end - 1].end).collect();
                Ok(found_again(text, &chunks))
            }
        }
    }

    /// Checks the configuration before any work.
    ///
    /// # Errors
    /// A parameter is out of range.
    pub fn validate(&self) -> Result<(), EvalError> {
        let (size, overlap) = self.size_and_overlap();
        let config = match self {
            Self::Configured(config) => config.clone(),
            _ => ChunkerConfig { size, overlap, ..ChunkerConfig::default() },
        };
        Ok(config.validate()?)
    }
}

fn split_configured(
    config: &ChunkerConfig,
    text: &str,
    embedder: &dyn Embedder,
    cancel: &CancelToken,
) -> Result<Vec<Range<usize>>, EvalError> {
    let embed =
        |texts: &[&str]| embedder.embed(texts, TextRole::Passage, cancel, &mut |_| {}).map_err(|err| err.to_string());
    let tokens = WordMeasure::new(|word: &str| embedder.count_tokens(word));
    let measure: &dyn Measure = if config.unit == Unit::Tokens { &tokens } else { &CharMeasure };
    let vectors = VectorSource { embed: Some(&embed), vectors: None };
    let chunking = build(config)?.chunk(&ChunkInput { text, spans: &[], name: None, measure, vectors })?;
    Ok(chunking.chunks.into_iter().map(|chunk| chunk.start..chunk.end).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn subjects_read_as_they_are_written() {
        let base = ChunkerConfig { unit: Unit::Tokens, overlap: 0, size: 200, ..ChunkerConfig::default() };
        for text in [
            "structure:size=150,min=40,unit=tokens,context=headings",
            "cluster:size=200,unit=tokens,surround=2",
            "published-recursive:size=250,overlap=125",
        ] {
            assert_eq!(Subject::parse(text, &base).unwrap().to_string(), text);
        }
        assert!(Subject::parse("fixed:context=all", &base).unwrap_err().contains("headings"));
        assert!(Subject::parse("fixed:surround=x", &base).unwrap_err().contains("whole number"));
        assert!(Subject::parse("unheard-of", &base).unwrap_err().contains("unknown variant"));
    }

    #[test]
    fn passages_hold_headings_and_surroundings_and_the_chunk() {
        let text = "# Pump\n\nThe pump is old and loud. It has a red button. Hold the button for long.";
        let start = text.find("It has").unwrap();
        let chunk = start..start + "It has a red button.".len();
        let subject =
            |context, surround| Subject { splitter: Splitter::PublishedCluster { size: 1 }, context, surround };
        assert_eq!(subject(false, 0).passages(text, std::slice::from_ref(&chunk)), ["It has a red button."]);
        assert_eq!(subject(true, 0).passages(text, std::slice::from_ref(&chunk)), ["Pump\nIt has a red button."]);
        let wide = &subject(false, 1).passages(text, &[chunk])[0];
        assert!(wide.contains("The pump is old") && wide.ends_with("for long."), "{wide}");
    }
}
