//! Text out of pictures of text, with the PP-OCR models on ONNX Runtime: `detect` finds the lines of a picture,
//! `recognise` reads each of them, `picture` turns and scales.
//!
//! What comes out are lines with their places; paragraphs, columns and headings are made of them by whoever knows the
//! page. The models read Latin script and Chinese, upright and turned by a few degrees.

mod detect;
mod picture;
mod recognise;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use ort::session::Session;
use serde::{Deserialize, Serialize};

use crate::onnx;

pub(super) use picture::Picture;

/// Skew below which a picture is read as it is: the lines of the models' training are no straighter.
const STRAIGHT_SLOPE: f32 = 0.004;

/// Lines between two signs of life.
const LINES_PER_STEP: usize = 16;

/// The models that read scans.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OcrModels {
    /// The ONNX Runtime library.
    pub runtime: PathBuf,
    /// Finds lines.
    pub detector: PathBuf,
    /// Reads a line.
    pub recogniser: PathBuf,
}

impl OcrModels {
    /// Whether all of them are installed.
    pub fn are_installed(&self) -> bool {
        [&self.runtime, &self.detector, &self.recogniser].iter().all(|path| path.is_file())
    }
}

/// A line of text in a picture, in pixels from the top left.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OcrLine {
    pub(super) text: String,
    /// Mean probability of its characters.
    pub(super) confidence: f32,
    pub(super) left: f32,
    pub(super) top: f32,
    pub(super) right: f32,
    pub(super) bottom: f32,
}

/// The models, loaded.
struct Reader {
    detector: Session,
    recogniser: Session,
    /// What each class of the recogniser stands for; the first is none.
    characters: Vec<String>,
}

/// The lines of a picture. The models are loaded once for this process. `on_step` is called now and then, so that whoever
/// waits can tell a page of many lines from a hang.
///
/// # Errors
/// A model does not load, or fails.
pub(super) fn read(models: &OcrModels, picture: &Picture, on_step: &mut dyn FnMut()) -> Result<Vec<OcrLine>, String> {
    static READER: OnceLock<Mutex<Option<Reader>>> = OnceLock::new();
    let mut slot = READER.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    let reader = match slot.as_mut() {
        Some(reader) => reader,
        None => slot.insert(Reader::open(models)?),
    };
    reader.read(picture, on_step).map_err(|err| format!("reading a scan failed: {err}"))
}

impl Reader {
    fn open(models: &OcrModels) -> Result<Self, String> {
        let environment = onnx::environment(&models.runtime)?;
        let open = |path: &Path| -> Result<Session, String> {
            let build = || -> ort::Result<Session> {
                let builder = Session::builder(&environment)?.with_intra_threads(1)?.with_inter_threads(1)?;
                builder.with_intra_op_spinning(false)?.commit_from_file(path)
            };
            build().map_err(|err| format!("a model for scans does not load: {err}: {}", path.display()))
        };
        let (detector, recogniser) = (open(&models.detector)?, open(&models.recogniser)?);
        let characters = recognise::characters(&recogniser)?;
        Ok(Self { detector, recogniser, characters })
    }

    fn read(&mut self, picture: &Picture, on_step: &mut dyn FnMut()) -> ort::Result<Vec<OcrLine>> {
        let mut areas = detect::areas(&mut self.detector, picture)?;
        let straightened;
        let mut picture = picture;
        if let Some(slope) = detect::slope(&areas).filter(|slope| slope.abs() > STRAIGHT_SLOPE) {
            straightened = picture.turned_by(slope);
            picture = &straightened;
            areas = detect::areas(&mut self.detector, picture)?;
        }
        let mut lines = Vec::new();
        for (index, area) in areas.iter().enumerate() {
            if index % LINES_PER_STEP == 0 {
                on_step();
            }
            let found = area.expanded(picture.width, picture.height);
            let crop = picture.crop(found.left, found.top, found.right, found.bottom);
            let (text, confidence) = recognise::line(&mut self.recogniser, &self.characters, &crop)?;
            if !text.trim().is_empty() {
                let [left, top, right, bottom] = [found.left, found.top, found.right, found.bottom].map(|x| x as f32);
                lines.push(OcrLine { text: text.trim().to_owned(), confidence, left, top, right, bottom });
            }
        }
        Ok(lines)
    }
}
