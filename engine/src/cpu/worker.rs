//! One thread of a search: takes rows, runs the kernels over them, keeps the candidates.

use crate::bound::RowCut;
use crate::error::Error;
use crate::file::{BlockView, CodesView};
use crate::metric::Metric;

use super::candidates::{Candidate, CandidateList, Scorer};
use super::kernel::{PANEL_QUERIES, PANEL_ROWS, Panel, PanelCut};
use super::plan::Plan;
use super::tile::RowTile;

/// Bytes of rows that a panel pass keeps in the second-level cache.
const TILE_BYTES: usize = 128 << 10;

/// One thread's part.
pub(crate) struct Worker<'a> {
    plan: &'a Plan<'a>,
    tile: RowTile<'a>,
    pub(crate) lists: Vec<CandidateList>,
    scorer: Scorer<'a>,
    pub(crate) num_zero_rows: u64,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(plan: &'a Plan<'a>) -> Self {
        let queries = plan.queries;
        Self {
            plan,
            tile: RowTile::new(queries.dims),
            lists: (0..queries.queries.len()).map(|query| CandidateList::new(queries.k, query)).collect(),
            scorer: Scorer::new(plan.snapshot, queries),
            num_zero_rows: 0,
        }
    }

    /// Works until no rows are left.
    pub(crate) fn run(&mut self) -> Result<(), Error> {
        let mut rows = Vec::new();
        let rows_per_tile =
            (TILE_BYTES / (self.plan.queries.dims * 4)).clamp(PANEL_ROWS, 512).next_multiple_of(PANEL_ROWS);
        while let Some(chunk) = self.plan.next() {
            let (block, start, end) = chunk?;
            rows.clear();
            self.plan.mask.collect(start, end, &mut rows);
            match self.plan.codes_of(&block) {
                Some(codes) => self.scan_codes(block, &codes, &rows),
                None => rows.chunks(rows_per_tile).for_each(|rows| self.score_rows(block, rows)),
            }
        }
        Ok(())
    }

    /// All queries against some rows of a block.
    fn score_rows(&mut self, block: BlockView<'a>, rows: &[u64]) {
        let metric = self.plan.queries.metric;
        self.num_zero_rows += self.tile.fill(block, rows, &self.plan.bounds[0], metric) as u64;
        self.score_tile();
    }

    /// All queries against some rows of a block, by their codes.
    fn scan_codes(&mut self, block: BlockView<'a>, codes: &CodesView<'_>, rows: &[u64]) {
        let plan = self.plan;
        let is_cosine = plan.queries.metric == Metric::Cosine;
        let norms = block.norms();
        for (query, coded) in plan.coded_queries.iter().enumerate() {
            let bounds = plan.bounds[query];
            let mut cut = self.current_cut(query);
            for &row in rows {
                let at = (row - block.first_row) as usize;
                let norm = norms[at];
                if is_cosine && norm == 0.0 {
                    self.num_zero_rows += u64::from(query == 0);
                    continue;
                }
                let found = coded.score(plan.kernels.codes, codes, at, norm as f32);
                if !cut.passes(found.row_cut(&bounds, norm), found.score) {
                    continue;
                }
                let interval = bounds.interval_with_error(found.score, norm, f64::from(found.error));
                if self.offer_candidate(query, Candidate { row, interval }) {
                    cut = self.current_cut(query);
                }
            }
        }
    }

    fn score_tile(&mut self) {
        if self.plan.panels.is_empty() {
            (0..self.lists.len()).for_each(|query| self.scan(query));
        } else {
            self.plan.panels.iter().for_each(|panel| self.score_panel(panel));
        }
    }

    /// One query against the rows of the tile.
    fn scan(&mut self, query: usize) {
        let plan = self.plan;
        let kernel = plan.kernels.row(plan.queries.kind);
        let vector = &plan.queries.queries[query].for_kernel;
        let mut cut = self.current_cut(query);
        for index in 0..self.tile.len() {
            let score = kernel(vector, self.tile.values(index));
            if cut.passes(self.tile.cuts[index], score) && self.offer(query, index, score) {
                cut = self.current_cut(query);
            }
        }
    }

    /// A panel of queries against the rows of the tile.
    fn score_panel(&mut self, panel: &Panel) {
        let plan = self.plan;
        let kernel = plan.kernels.panel(plan.queries.kind);
        let mut cut = PanelCut::CLOSED;
        for lane in 0..panel.num_queries {
            cut.set(lane, self.current_cut(panel.first_query + lane));
        }
        let mut scores = [[0.0; PANEL_QUERIES]; PANEL_ROWS];
        for first in (0..self.tile.len()).step_by(PANEL_ROWS) {
            let last = self.tile.len() - 1;
            let at = |offset: usize| (first + offset).min(last);
            let values = std::array::from_fn(|offset| self.tile.values(at(offset)));
            let row_cuts: [RowCut; PANEL_ROWS] = std::array::from_fn(|offset| self.tile.cuts[at(offset)]);
            let masks = kernel(&panel.values, values, &cut, row_cuts, &mut scores);
            for (offset, &mask) in masks.iter().enumerate().take(self.tile.len() - first) {
                self.offer_lanes(panel, first + offset, mask, &scores[offset], &mut cut);
            }
        }
    }

    fn offer_lanes(
        &mut self,
        panel: &Panel,
        index: usize,
        mask: u16,
        scores: &[f32; PANEL_QUERIES],
        cut: &mut PanelCut,
    ) {
        let mut lanes = mask;
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            if lane < panel.num_queries && self.offer(panel.first_query + lane, index, scores[lane]) {
                cut.set(lane, self.current_cut(panel.first_query + lane));
            }
        }
    }

    /// Offers a row of the tile to a query's list; true if the threshold rose.
    fn offer(&mut self, query: usize, index: usize, score: f32) -> bool {
        let interval = self.plan.bounds[query].interval(score, self.tile.norms[index]);
        let row = self.tile.rows[index];
        self.offer_candidate(query, Candidate { row, interval })
    }

    fn offer_candidate(&mut self, query: usize, candidate: Candidate) -> bool {
        let has_risen = self.lists[query].push(candidate, &mut self.scorer);
        if has_risen {
            self.plan.publish_threshold(query, self.lists[query].threshold());
        }
        has_risen
    }

    fn current_cut(&mut self, query: usize) -> crate::bound::QueryCut {
        self.lists[query].raise_threshold(self.plan.shared_threshold(query));
        self.plan.bounds[query].query_cut(self.lists[query].threshold())
    }
}
