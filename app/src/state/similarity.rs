//! What lies near what: the chunks of the document in hand against each other and against a query, and the library
//! as a map.

use std::sync::Arc;

use super::{LabResult, Loadable, Pace};
use crate::extract::Extraction;
use crate::library::MapPassage;
use crate::similarity::{HeatMap, MapLayout, Point, Projection};
use crate::store::DocumentId;

/// The similarity space.
#[derive(Clone, Debug, Default)]
pub struct SimilarityState {
    /// Which picture is shown.
    pub view: SimilarityView,
    /// The chunks of the document in hand, compared.
    pub heat: Loadable<Arc<HeatResult>>,
    /// Rows compared or embedded and all of them, while that is under way.
    pub progress: Option<Pace>,
    /// The pair of chunks that was clicked.
    pub picked: Option<(usize, usize)>,
    /// The query that chunks are compared with; empty for none.
    pub query: String,
    /// Cosine of the query with each chunk of the heat map, and where it lies on the map.
    pub answer: Option<Arc<QueryAnswer>>,
    /// How the map is laid out.
    pub layout: MapLayout,
    /// The library as a map.
    pub map: Loadable<Arc<MapResult>>,
    /// The passage of the map that was clicked.
    pub picked_passage: Option<usize>,
    /// The passages of the map that a line was drawn around.
    pub encircled: Vec<usize>,
    /// Number of the newest request.
    pub asked: u64,
}

/// Which picture is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SimilarityView {
    /// Chunks by chunks.
    #[default]
    Heat,
    /// The library as a map.
    Map,
}

/// The chunks of one document, compared with each other.
#[derive(Clone, Debug)]
pub struct HeatResult {
    /// Which document.
    pub document: DocumentId,
    /// Its text.
    pub extraction: Arc<Extraction>,
    /// Its chunks.
    pub chunks: Arc<LabResult>,
    /// Their similarities.
    pub map: Arc<HeatMap>,
    /// The picture, three bytes for each cell.
    pub pixels: Vec<u8>,
    /// Vectors of the chunks, row by row.
    pub vectors: Vec<f32>,
    /// Numbers of a vector.
    pub dims: usize,
    /// Milliseconds that comparing took, embedding not counted.
    pub compare_ms: f64,
}

/// A query beside the chunks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryAnswer {
    /// The query.
    pub query: String,
    /// Its cosine with each chunk of the heat map.
    pub cosines: Vec<f32>,
    /// Where it lies on the map.
    pub place: Option<Point>,
    /// The passages of the map nearest to it, best first.
    pub hits: Vec<usize>,
}

/// The library as a map.
#[derive(Clone, Debug)]
pub struct MapResult {
    /// The points.
    pub projection: Arc<Projection>,
    /// What each point stands for.
    pub passages: Vec<MapPassage>,
    /// Vectors, row by row.
    pub vectors: Vec<f32>,
    /// Numbers of a vector.
    pub dims: usize,
    /// Passages that are not on the map, of a library with more than a map shows.
    pub left_out: usize,
    /// The library's version that it shows.
    pub library_version: u64,
}
