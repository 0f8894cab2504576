//! Writing figures of the window to files, as drawings, pictures or data.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Event, Outbox, guarded, spawn};
use crate::chunk::Chunking;
use crate::chunk::svg::{BoundaryPlot, ComparisonPlot, LayerRow};
use crate::extract::Extraction;
use crate::figure::to_png;
use crate::library::Error;
use crate::similarity::{HeatMap, Projection};
use crate::state::{Comparison, LabResult};

/// Which figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// The boundary plot with layers and sizes.
    Boundary,
    /// Layers of several chunkers.
    Comparison,
    /// Chunk by chunk similarity.
    HeatMap,
    /// The map of passages.
    Projection,
}

impl Figure {
    fn word(self) -> &'static str {
        match self {
            Self::Boundary => "boundary",
            Self::Comparison => "comparison",
            Self::HeatMap => "similarity",
            Self::Projection => "map",
        }
    }
}

/// As what it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// A drawing.
    Svg,
    /// A picture.
    Png,
    /// Its data as a table.
    Csv,
    /// Its data for programs.
    Json,
}

impl ExportFormat {
    /// All, with the words of menus.
    pub const ALL: [(Self, &'static str); 4] =
        [(Self::Svg, "SVG"), (Self::Png, "PNG"), (Self::Csv, "CSV"), (Self::Json, "JSON")];

    fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Csv => "csv",
            Self::Json => "json",
        }
    }
}

/// The data of a figure.
pub enum Drawing {
    /// The boundary plot.
    Boundary {
        /// The text.
        extraction: Arc<Extraction>,
        /// The chunking.
        result: Arc<LabResult>,
    },
    /// Layers of several chunkers.
    Comparison {
        /// The text.
        extraction: Arc<Extraction>,
        /// The chunkings.
        comparison: Arc<Comparison>,
    },
    /// Similarity of chunks.
    HeatMap(Arc<HeatMap>),
    /// The map of passages.
    Projection(Arc<Projection>),
}

/// A figure to write.
pub struct ExportRequest {
    /// Which.
    pub figure: Figure,
    /// As what.
    pub format: ExportFormat,
    /// Where to; `None` asks.
    pub path: Option<PathBuf>,
    /// Printed over the figure: the document's title.
    pub title: String,
    /// What is drawn.
    pub drawing: Drawing,
}

/// Pixels for each unit of a drawing.
const PNG_SCALE: f32 = 2.0;

pub(super) fn export(request: ExportRequest, outbox: Outbox) {
    spawn("export", move || {
        let path = request.path.clone().or_else(|| ask(&request, &outbox));
        let outcome = guarded(|| match &path {
            None => Ok(None),
            Some(path) => {
                let bytes = render(&request)?;
                write(path, &bytes).map_err(|err| failure(&format!("{err}: {path:?}")))?;
                Ok(Some(path.clone()))
            }
        });
        outbox.send(Event::Exported(outcome));
    });
}

/// Writes beside the file and renames, so that nobody ever sees half of it.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    std::fs::write(&part, bytes)?;
    std::fs::rename(&part, path)
}

/// Asks where to, in the system's dialog.
fn ask(request: &ExportRequest, outbox: &Outbox) -> Option<PathBuf> {
    let ending = request.format.ending();
    let stem: String =
        request.title.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' }).collect();
    let dialog = rfd::FileDialog::new()
        .set_title("Save figure")
        .set_file_name(format!("{}-{}.{ending}", stem.trim_matches('-'), request.figure.word()))
        .add_filter(ending.to_uppercase(), &[ending]);
    super::dialog::save(dialog, outbox)
}

fn render(request: &ExportRequest) -> Result<Vec<u8>, Error> {
    let ExportRequest { format, title, drawing, .. } = request;
    match format {
        ExportFormat::Svg => Ok(svg(drawing, title).into_bytes()),
        ExportFormat::Png => to_png(&svg(drawing, title), PNG_SCALE).map_err(|err| failure(&err.to_string())),
        ExportFormat::Csv => Ok(csv(drawing).into_bytes()),
        ExportFormat::Json => json(drawing),
    }
}

fn failure(detail: &str) -> Error {
    Error::new("The figure could not be saved", detail).with_hint("choose another place, or check its permissions")
}

fn svg(drawing: &Drawing, title: &str) -> String {
    match drawing {
        Drawing::Boundary { extraction, result } => {
            let chunking = Chunking {
                chunks: result.chunks.clone(),
                boundaries: result.curve.clone(),
                threshold: result.threshold,
            };
            let (text, unit) = (extraction.text.as_str(), result.config.unit);
            BoundaryPlot { title, text, chunking: &chunking, sizes: &result.sizes, unit }.to_svg()
        }
        Drawing::Comparison { extraction, comparison } => {
            let names: Vec<String> = comparison.columns.iter().map(|column| column.config.to_string()).collect();
            let rows: Vec<LayerRow<'_>> = comparison
                .columns
                .iter()
                .zip(&names)
                .map(|(column, name)| LayerRow { name, chunks: &column.chunks, sizes: &column.sizes })
                .collect();
            ComparisonPlot { title, text: &extraction.text, rows: &rows }.to_svg()
        }
        Drawing::HeatMap(heat) => heat.to_svg(title),
        Drawing::Projection(map) => map.to_svg(title),
    }
}

fn csv(drawing: &Drawing) -> String {
    let number = |value: Option<f32>| value.map(|value| format!("{value:.4}")).unwrap_or_default();
    match drawing {
        Drawing::Boundary { result, .. } => {
            let mut csv = "chunk,start,end,size,left_similarity,right_similarity\n".to_owned();
            for (index, (chunk, size)) in result.chunks.iter().zip(&result.sizes).enumerate() {
                let (left, right) = (number(chunk.left_similarity), number(chunk.right_similarity));
                csv.push_str(&format!("{},{},{},{size},{left},{right}\n", index + 1, chunk.start, chunk.end));
            }
            csv
        }
        Drawing::Comparison { comparison, .. } => {
            let mut csv = "chunker,chunk,start,end,size\n".to_owned();
            for column in &comparison.columns {
                for (index, (chunk, size)) in column.chunks.iter().zip(&column.sizes).enumerate() {
                    csv.push_str(&format!(
                        "\"{}\",{},{},{},{size}\n",
                        column.config,
                        index + 1,
                        chunk.start,
                        chunk.end
                    ));
                }
            }
            csv
        }
        Drawing::HeatMap(heat) => heat.to_csv(),
        Drawing::Projection(map) => map.to_csv(),
    }
}

fn json(drawing: &Drawing) -> Result<Vec<u8>, Error> {
    let value = match drawing {
        Drawing::Boundary { result, .. } => serde_json::json!({
            "chunker": result.config,
            "threshold": result.threshold,
            "chunks": result.chunks,
            "sizes": result.sizes,
            "curve": result.curve,
        }),
        Drawing::Comparison { comparison, .. } => {
            let column = |column: &crate::state::Column| {
                serde_json::json!({
                    "chunker": column.config,
                    "chunks": column.chunks,
                    "sizes": column.sizes,
                    "agreement": column.agreement,
                    "cohesion": column.cohesion,
                })
            };
            serde_json::json!(comparison.columns.iter().map(column).collect::<Vec<_>>())
        }
        Drawing::HeatMap(heat) => serde_json::json!(heat.as_ref()),
        Drawing::Projection(map) => serde_json::json!(map.as_ref()),
    };
    serde_json::to_vec_pretty(&value).map_err(|err| failure(&err.to_string()))
}
