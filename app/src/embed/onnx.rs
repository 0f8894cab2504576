//! [`OnnxEmbedder`]: sentence-embedding models through ONNX Runtime.

use std::path::Path;

use ort::session::{RunOptions, Session, SessionInputValue};
use ort::value::TensorRef;

use super::batch::{Padded, plan};
use super::manifest::{LongTexts, Manifest};
use super::pool::{normalise, pool, quantise};
use super::sessions::Sessions;
use super::tokens::{Tokens, Window};
use super::{EmbedError, Embedder, TextRole, TokenVectors};
use crate::progress::CancelToken;

pub(super) const MODEL_FILE: &str = "model.onnx";
pub(super) const TOKENIZER_FILE: &str = "tokenizer.json";

/// A model in a folder (`model.onnx`, `tokenizer.json`, `manifest.toml`), run by ONNX Runtime on the CPU.
pub struct OnnxEmbedder {
    manifest: Manifest,
    fingerprint: String,
    tokens: Tokens,
    sessions: Sessions,
    inputs: Vec<String>,
}

impl std::fmt::Debug for OnnxEmbedder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OnnxEmbedder").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

impl OnnxEmbedder {
    /// Loads the model in `folder` with the ONNX Runtime library at `library`.
    ///
    /// # Errors
    /// The library or a file of the model is missing or damaged, or the model's vectors are not what its manifest
    /// says.
    pub fn open(folder: &Path, library: &Path) -> Result<Self, EmbedError> {
        let manifest = Manifest::read(folder)?;
        let model = read(&folder.join(MODEL_FILE))?;
        let tokens = Tokens::open(&folder.join(TOKENIZER_FILE))?;
        let fingerprint = fingerprint(&manifest, &model, &folder.join(TOKENIZER_FILE))?;
        let (sessions, inputs) =
            Sessions::start(&model, library).map_err(|err| EmbedError::Load(format!("{err}: {}", folder.display())))?;
        let embedder = Self { manifest, fingerprint, tokens, sessions, inputs };
        embedder.probe(folder)?;
        Ok(embedder)
    }

    /// One short text through the model, so that a wrong manifest shows at once.
    fn probe(&self, folder: &Path) -> Result<(), EmbedError> {
        self.embed(&["probe"], TextRole::Passage, &CancelToken::new(), &mut |_| ())
            .map(|_| ())
            .map_err(|err| EmbedError::Load(format!("{err}: {}", folder.display())))
    }

    fn prefix(&self, role: TextRole) -> &str {
        match role {
            TextRole::Query => &self.manifest.query_prefix,
            TextRole::Passage => &self.manifest.passage_prefix,
        }
    }

    fn windows(&self, texts: &[&str], role: TextRole) -> Result<Vec<Window>, EmbedError> {
        let mut windows = Vec::with_capacity(texts.len());
        for (index, text) in texts.iter().enumerate() {
            let prefix = self.prefix(role);
            let mut of_text = self.tokens.windows(index, prefix, text, self.manifest.window)?;
            if self.manifest.long_texts == LongTexts::First {
                of_text.truncate(1);
            }
            windows.extend(of_text);
        }
        Ok(windows)
    }

    /// Shape and values of what the model gives for a batch.
    fn states(&self, session: &mut Session, padded: &Padded) -> Result<(Vec<usize>, Vec<f32>), EmbedError> {
        RunOptions::new()
            .and_then(|options| forward(session, &self.inputs, padded, &options))
            .map_err(|err| EmbedError::Run(format!("the model failed: {err}")))
    }

    /// Unit vectors of the tokens of each window of one batch, in steps of 1/127; `None` where the model pools itself.
    fn run_tokens(&self, session: &mut Session, windows: &[Window]) -> Result<Option<Vec<Vec<i8>>>, EmbedError> {
        let padded = Padded::new(windows);
        let dims = self.manifest.dims;
        let (shape, states) = self.states(session, &padded)?;
        if shape != [padded.rows, padded.width, dims] {
            return Ok(None);
        }
        let quantised = |(window, states): (&Window, &[f32])| {
            let tokens = self.tokens.content_of(window);
            let mut rows = Vec::with_capacity(tokens.len() * dims);
            quantise(&states[tokens.start * dims..tokens.end * dims], dims, &mut rows);
            rows
        };
        Ok(Some(windows.iter().zip(states.chunks_exact(padded.width * dims)).map(quantised).collect()))
    }

    /// Unit vectors of the windows of one batch.
    fn run(&self, session: &mut Session, windows: &[Window]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let padded = Padded::new(windows);
        let (shape, states) = self.states(session, &padded)?;
        let dims = self.manifest.dims;
        let rows = windows.iter().enumerate();
        let mut vectors: Vec<Vec<f32>> = match *shape {
            [batch, width, size] if (batch, width, size) == (padded.rows, padded.width, dims) => {
                let stride = padded.width * dims;
                rows.map(|(row, window)| {
                    let states = &states[row * stride..(row + 1) * stride];
                    pool(states, dims, window.ids.len(), self.manifest.pooling)
                })
                .collect()
            }
            [batch, size] if (batch, size) == (padded.rows, dims) => {
                states.chunks_exact(dims).map(<[f32]>::to_vec).collect()
            }
            _ => return Err(wrong_shape(&shape, &padded, dims)),
        };
        for vector in &mut vectors {
            normalise(vector);
        }
        Ok(vectors)
    }
}

fn wrong_shape(found: &[usize], padded: &Padded, dims: usize) -> EmbedError {
    EmbedError::Run(format!(
        "the model gave a tensor of {found:?} but {:?} was expected; check `dims` in its manifest",
        [padded.rows, padded.width, dims]
    ))
}

impl Embedder for OnnxEmbedder {
    fn name(&self) -> &str {
        &self.manifest.name
    }

    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn dims(&self) -> usize {
        self.manifest.dims
    }

    fn count_tokens(&self, text: &str) -> usize {
        self.tokens.count(text)
    }

    fn window_tokens(&self) -> usize {
        self.manifest.window.saturating_sub(self.tokens.num_special()).max(1)
    }

    fn embed(
        &self,
        texts: &[&str],
        role: TextRole,
        cancel: &CancelToken,
        on_done: &mut dyn FnMut(usize),
    ) -> Result<Vec<f32>, EmbedError> {
        let mut windows = self.windows(texts, role)?;
        let mut sums = TextSums::new(texts.len(), &self.manifest, &windows);
        let batches = plan(&mut windows);
        let run = |session: &mut Session, batch: usize| {
            if cancel.is_cancelled() {
                Err(EmbedError::Cancelled)
            } else {
                self.run(session, &windows[batches[batch].clone()])
            }
        };
        self.sessions.run_all(batches.len(), &run, &mut |batch, vectors| {
            for (window, vector) in windows[batches[batch].clone()].iter().zip(&vectors) {
                sums.add(window, vector);
            }
            on_done(sums.texts_done);
        })?;
        Ok(sums.finish())
    }

    fn token_vectors(
        &self,
        texts: &[&str],
        role: TextRole,
        cancel: &CancelToken,
    ) -> Result<Option<Vec<TokenVectors>>, EmbedError> {
        let mut windows = self.windows(texts, role)?;
        let mut found = vec![TokenVectors { dims: self.manifest.dims, rows: Vec::new() }; texts.len()];
        let batches = plan(&mut windows);
        let run = |session: &mut Session, batch: usize| {
            if cancel.is_cancelled() {
                Err(EmbedError::Cancelled)
            } else {
                self.run_tokens(session, &windows[batches[batch].clone()])
            }
        };
        let mut has_tokens = true;
        self.sessions.run_all(batches.len(), &run, &mut |batch, rows| {
            has_tokens &= rows.is_some();
            for (window, rows) in windows[batches[batch].clone()].iter().zip(rows.into_iter().flatten()) {
                found[window.text].rows.extend(rows);
            }
        })?;
        Ok(has_tokens.then_some(found))
    }
}

/// The vectors of texts while their windows come in: the mean of the windows, weighted by their tokens.
struct TextSums {
    rows: Vec<f32>,
    dims: usize,
    long_texts: LongTexts,
    windows_left: Vec<usize>,
    texts_done: usize,
}

impl TextSums {
    fn new(num_texts: usize, manifest: &Manifest, windows: &[Window]) -> Self {
        let dims = manifest.dims;
        let mut windows_left = vec![0; num_texts];
        for window in windows {
            windows_left[window.text] += 1;
        }
        Self {
            rows: vec![0.0; num_texts * dims],
            dims,
            long_texts: manifest.long_texts,
            texts_done: windows_left.iter().filter(|left| **left == 0).count(),
            windows_left,
        }
    }

    fn add(&mut self, window: &Window, vector: &[f32]) {
        let row = &mut self.rows[window.text * self.dims..][..self.dims];
        let share = match self.long_texts {
            LongTexts::Leading => 0.5_f32.powi(window.place.min(100) as i32),
            LongTexts::Average | LongTexts::First => 1.0,
        };
        let weight = share * window.ids.len() as f32;
        for (sum, value) in row.iter_mut().zip(vector) {
            *sum += weight * value;
        }
        self.windows_left[window.text] -= 1;
        self.texts_done += usize::from(self.windows_left[window.text] == 0);
    }

    fn finish(mut self) -> Vec<f32> {
        self.rows.chunks_exact_mut(self.dims).for_each(normalise);
        self.rows
    }
}

pub(super) fn read(path: &Path) -> Result<Vec<u8>, EmbedError> {
    std::fs::read(path).map_err(|err| EmbedError::Load(format!("{err}: {}", path.display())))
}

/// Everything that changes a vector, in one name for the vector file.
fn fingerprint(manifest: &Manifest, model: &[u8], tokenizer: &Path) -> Result<String, EmbedError> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(blake3::hash(model).as_bytes());
    hasher.update(blake3::hash(&read(tokenizer)?).as_bytes());
    let recipe = format!(
        "{} {} {:?} {:?} {:?}",
        manifest.dims, manifest.window, manifest.pooling, manifest.query_prefix, manifest.passage_prefix
    );
    hasher.update(recipe.as_bytes());
    match manifest.long_texts {
        LongTexts::Average => {}
        LongTexts::Leading => _ = hasher.update(b" leading windows"),
        LongTexts::First => _ = hasher.update(b" first window"),
    }
    let digest = hasher.finalize().to_hex();
    Ok(format!("onnx-{}-{}", manifest.dims, &digest[..16]))
}

/// Shape and values of the model's first output, or of the one that holds token states.
pub(super) fn forward(
    session: &mut Session,
    inputs: &[String],
    padded: &Padded,
    options: &RunOptions,
) -> ort::Result<(Vec<usize>, Vec<f32>)> {
    let shape = [padded.rows, padded.width];
    let mut values: Vec<(&str, SessionInputValue<'_>)> = Vec::with_capacity(inputs.len());
    for input in inputs {
        let data: &[i64] = match input.as_str() {
            "input_ids" => &padded.ids,
            "attention_mask" => &padded.mask,
            _ => &padded.types,
        };
        values.push((input, TensorRef::from_array_view((shape, data))?.into()));
    }
    let outputs = session.run_with_options(values, options)?;
    let states = outputs.get("last_hidden_state").or_else(|| outputs.get("token_embeddings")).unwrap_or(&outputs[0]);
    let (shape, data) = states.try_extract_tensor::<f32>()?;
    let shape = shape.iter().map(|size| usize::try_from(*size).unwrap_or(0));
    Ok((shape.collect(), data.to_vec()))
}
