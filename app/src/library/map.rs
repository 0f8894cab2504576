//! The library as a map: vectors of its passages, laid out in the plane.

use super::{Error, Library};
use crate::progress::CancelToken;
use crate::similarity::{MapLayout, Projection};
use crate::store::{DocumentId, DocumentRecord, DocumentStatus};

/// Most passages on a map; of more every so-manieth is taken.
const MOST_POINTS: usize = 6000;

/// A passage on the map.
#[derive(Clone, Debug, PartialEq)]
pub struct MapPassage {
    /// Its document.
    pub document: DocumentId,
    /// First byte in the document's text.
    pub start: usize,
    /// Its text.
    pub text: String,
}

/// Passages of a library with where they lie on its map.
#[derive(Clone, Debug)]
pub struct LibraryMap {
    /// The points.
    pub projection: Projection,
    /// What each point stands for.
    pub passages: Vec<MapPassage>,
    /// Vectors, row by row.
    pub vectors: Vec<f32>,
    /// Numbers of a vector.
    pub dims: usize,
    /// Passages that are not on the map, of a library with more than a map shows.
    pub left_out: usize,
}

/// Steps that the layout counts as, beside one for each passage that is embedded.
const LAYOUT_STEPS: usize = 1000;

impl Library {
    /// Lays the passages of all ready documents out in the plane; of very many every so-manieth. `on_done` gets the
    /// steps done and all of them, from any thread.
    ///
    /// # Errors
    /// The library cannot be read, the model failed, or it was cancelled.
    pub fn map(
        &self,
        layout: MapLayout,
        cancel: &CancelToken,
        on_done: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<LibraryMap, Error> {
        compute(self, layout, cancel, on_done)
    }
}

fn compute(
    library: &Library,
    layout: MapLayout,
    cancel: &CancelToken,
    on_done: &(dyn Fn(usize, usize) + Sync),
) -> Result<LibraryMap, Error> {
    let documents = library.documents()?;
    let ready: Vec<&DocumentRecord> =
        documents.iter().filter(|record| record.status == DocumentStatus::Ready).collect();
    let total: usize = ready.iter().map(|record| record.chunks).sum();
    let step = total.div_ceil(MOST_POINTS).max(1);
    let (mut passages, mut groups, mut seen) = (Vec::new(), Vec::new(), 0);
    for (group, record) in ready.iter().enumerate() {
        for chunk in library.chunks(record.id)? {
            if seen % step == 0 {
                passages.push(MapPassage { document: record.id, start: chunk.start, text: chunk.text });
                groups.push(group);
            }
            seen += 1;
        }
    }
    let texts: Vec<&str> = passages.iter().map(|passage| passage.text.as_str()).collect();
    let all = texts.len() + LAYOUT_STEPS;
    let vectors = library.embed_cached(&texts, cancel, &mut |done| on_done(done, all))?;
    let dims = library.embedder().dims();
    let names = ready.iter().map(|record| record.title.clone()).collect();
    let laid_out = |share: f64| on_done(texts.len() + (share * LAYOUT_STEPS as f64) as usize, all);
    let projection = Projection::compute(layout, (&vectors, dims), (groups, names), cancel, &laid_out)
        .ok_or_else(|| Error::new("The map was stopped", "nothing was changed by it"))?;
    Ok(LibraryMap { left_out: seen - passages.len(), projection, passages, vectors, dims })
}
