//! Gathers what a figure shows and hands it to the job that writes it.

use std::path::PathBuf;
use std::sync::Arc;

use crate::jobs::{Drawing, ExportFormat, ExportRequest, Figure, Jobs};
use crate::state::AppState;

pub(super) fn export(figure: Figure, format: ExportFormat, path: Option<PathBuf>, state: &mut AppState, jobs: &Jobs) {
    let Some(drawing) = drawing(figure, state) else {
        state.tell("There is nothing to save yet", None);
        return;
    };
    let record = state.lab.document.and_then(|id| state.library.document(id));
    let title = match figure {
        Figure::Projection => "Library".to_owned(),
        _ => record.map_or_else(|| "Document".to_owned(), |record| record.title.clone()),
    };
    jobs.export(ExportRequest { figure, format, path, title, drawing });
}

fn drawing(figure: Figure, state: &AppState) -> Option<Drawing> {
    let lab = &state.lab;
    Some(match figure {
        Figure::Boundary => Drawing::Boundary {
            extraction: Arc::clone(lab.extraction.value()?),
            result: Arc::clone(lab.result.value()?),
        },
        Figure::Comparison => Drawing::Comparison {
            extraction: Arc::clone(lab.extraction.value()?),
            comparison: Arc::clone(lab.comparison.value()?),
        },
        Figure::HeatMap => Drawing::HeatMap(Arc::clone(&state.similarity.heat.value()?.map)),
        Figure::Projection => Drawing::Projection(Arc::clone(&state.similarity.map.value()?.projection)),
    })
}
