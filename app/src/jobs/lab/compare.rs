//! Cutting an open document by several chunkers, and what they have in common.

use std::sync::Arc;
use std::time::Instant;

use super::document::OpenDocument;
use super::questions::summed;
use super::{Bench, LabRequest};
use crate::chunk::compare::{Agreement, Cohesion};
use crate::chunk::{Boundary, Chunk, ChunkerConfig, Chunking};
use crate::library::Error;
use crate::progress::CancelToken;
use crate::state::{Column, Comparison, LabResult, RowMetrics, SizeStats, TextRows};

/// Height of the row in which a cut is drawn.
const CUT_HEIGHT: f32 = 14.0;

impl Bench {
    /// The chunker in hand, whose chunking is `first`, beside the others of `request`.
    pub(super) fn compare(
        &self,
        open: &mut OpenDocument,
        request: &LabRequest,
        first: &LabResult,
        cancel: &CancelToken,
    ) -> Result<Comparison, Error> {
        let mut columns = vec![Column {
            config: first.config.clone(),
            chunks: first.chunks.clone(),
            sizes: first.sizes.clone(),
            stats: first.stats.clone(),
            agreement: Agreement::of(&first.chunks, &first.chunks),
            cohesion: Cohesion::of(&first.chunks, &first.curve),
            scores: None,
            cut_ms: first.cut_ms,
        }];
        for config in &request.others {
            let started = Instant::now();
            let chunking = self.chunking(open, request, config)?;
            let cut_ms = started.elapsed().as_secs_f64() * 1e3;
            columns.push(self.column(open, config, chunking, first, cut_ms));
        }
        self.score(open, request, &mut columns, cancel)?;
        let cuts = Comparison::marks(&columns);
        let text_len = open.extraction.text.len();
        let ends = cuts.iter().skip(1).map(|mark| mark.byte).chain([text_len]);
        let piece = |(start, end)| Chunk { start, end, left_similarity: None, right_similarity: None };
        let pieces: Vec<Chunk> = cuts.iter().map(|mark| mark.byte).zip(ends).map(piece).collect();
        let metrics = RowMetrics { header_height: CUT_HEIGHT, ..self.row_metrics().as_ref().clone() };
        let rows = TextRows::build(&open.extraction.text, &pieces, &metrics);
        Ok(Comparison { columns, cuts, rows })
    }

    /// Asks the questions of every column.
    fn score(
        &self,
        open: &OpenDocument,
        request: &LabRequest,
        columns: &mut [Column],
        cancel: &CancelToken,
    ) -> Result<(), Error> {
        if request.questions.is_empty() {
            return Ok(());
        }
        let mut first = Vec::new();
        for (index, column) in columns.iter_mut().enumerate() {
            let scores = self.ask(&open.extraction.text, &column.chunks, &request.questions, cancel)?;
            if index == 0 {
                first.clone_from(&scores);
            }
            column.scores = Some(summed(&scores, &first));
        }
        Ok(())
    }

    fn column(
        &self,
        open: &mut OpenDocument,
        config: &ChunkerConfig,
        chunking: Chunking,
        first: &LabResult,
        cut_ms: f64,
    ) -> Column {
        let extraction = Arc::clone(&open.extraction);
        let sizes = self.sizes(open, &extraction.text, config.unit, &chunking.chunks);
        // Every column is judged by the same curve, whatever smoothing its chunker uses.
        let curve: &[Boundary] = if first.curve.is_empty() { &chunking.boundaries } else { &first.curve };
        Column {
            config: config.clone(),
            agreement: Agreement::of(&chunking.chunks, &first.chunks),
            cohesion: Cohesion::of(&chunking.chunks, curve),
            stats: SizeStats::of(&sizes),
            sizes,
            chunks: chunking.chunks,
            scores: None,
            cut_ms,
        }
    }
}
