//! One thread of a search: takes rows, runs the kernels over them, keeps the candidates.

use crate::bound::{QueryCut, RowCut};
use crate::error::Error;
use crate::file::{BlockView, CodesView};

use super::candidates::{Candidate, CandidateList, Scorer};
use super::certified::{CodeTile, CodedQueries};
use super::kernel::{PANEL_QUERIES, PANEL_ROWS, Panel, PanelCut, PanelScores};
use super::plan::Plan;
use super::tile::RowTile;

/// Bytes of rows that a panel pass keeps in the second-level cache.
const TILE_BYTES: usize = 128 << 10;
/// Rows that a scan takes at a time: many, since every stop costs the memory's stream its momentum.
const SCAN_TILE_ROWS: usize = 510;
/// How far ahead of a scan memory is asked for.
const SCAN_AHEAD_BYTES: usize = 4 << 10;

/// One thread's part.
pub(crate) struct Worker<'a> {
    plan: &'a Plan<'a>,
    tile: RowTile<'a>,
    code_tile: CodeTile,
    found: Found<'a>,
    num_zero_rows: u64,
    num_coded_rows: u64,
}

/// What a thread found.
pub(crate) struct WorkerOutcome {
    pub(crate) lists: Vec<CandidateList>,
    pub(crate) num_zero_rows: u64,
    /// Rows whose codes were scored in place of their values.
    pub(crate) num_coded_rows: u64,
    /// Canonical scores computed on the way.
    pub(crate) num_scored: u64,
}

/// The candidates so far.
struct Found<'a> {
    plan: &'a Plan<'a>,
    lists: Vec<CandidateList>,
    scorer: Scorer<'a>,
}

/// A range of rows that are not needed yet, asked for bit by bit while the present ones are scored.
struct Upcoming<'r, F> {
    rows: &'r [u64],
    ask: F,
    step: usize,
    num_steps: usize,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(plan: &'a Plan<'a>) -> Self {
        let queries = plan.queries;
        let lists = (0..queries.queries.len()).map(|query| CandidateList::new(queries.k, query)).collect();
        Self {
            plan,
            tile: RowTile::new(queries.dims),
            code_tile: CodeTile::default(),
            found: Found { plan, lists, scorer: Scorer::new(plan.snapshot, queries) },
            num_zero_rows: 0,
            num_coded_rows: 0,
        }
    }

    /// Works until no rows are left.
    pub(crate) fn run(mut self) -> Result<WorkerOutcome, Error> {
        let mut rows = Vec::new();
        while let Some(chunk) = self.plan.next() {
            let (block, start, end) = chunk?;
            rows.clear();
            self.plan.mask.collect(start, end, &mut rows);
            match self.plan.codes_of(&block) {
                Some((coded, codes)) => self.score_codes(block, &rows, coded, &codes),
                None => self.score_values(block, &rows),
            }
        }
        Ok(WorkerOutcome {
            lists: self.found.lists,
            num_zero_rows: self.num_zero_rows,
            num_coded_rows: self.num_coded_rows,
            num_scored: self.found.scorer.num_scored,
        })
    }

    /// All queries against some rows of a block.
    fn score_values(&mut self, block: BlockView<'a>, rows: &[u64]) {
        let plan = self.plan;
        let rows_per_tile = rows_per_tile(plan.panels.is_empty(), plan.queries.dims * 4);
        let kernel = plan.kernels.panel(plan.queries.kind);
        for (index, part) in rows.chunks(rows_per_tile).enumerate() {
            self.fill(block, part);
            self.tile.convert();
            (0..self.found.lists.len()).filter(|_| plan.panels.is_empty()).for_each(|query| self.scan(query));
            let rest = &rows[((index + 1) * rows_per_tile).min(rows.len())..];
            let ask = |row: u64| (plan.kernels.prefetch_far)(block.row_bytes((row - block.first_row) as usize));
            let mut upcoming = Upcoming::new(&rest[..rest.len().min(rows_per_tile)], ask, &plan.panels, &self.tile);
            let tile = &self.tile;
            for panel in &plan.panels {
                let mut score = |at: [usize; PANEL_ROWS], cut: &PanelCut, row_cuts: &_, scores: &mut _| {
                    upcoming.ask_for_more();
                    kernel(&panel.lanes, at.map(|index| tile.values(index)), cut, row_cuts, scores)
                };
                self.found.score_panel(panel, tile, &mut score);
            }
        }
    }

    /// All queries against some rows of a block, by their codes.
    fn score_codes(&mut self, block: BlockView<'a>, rows: &[u64], coded: &CodedQueries, codes: &CodesView<'_>) {
        let plan = self.plan;
        // Codes of a tile take two bytes once they are widened.
        let rows_per_tile = rows_per_tile(coded.panels.is_empty(), codes.stride * 2);
        for (index, part) in rows.chunks(rows_per_tile).enumerate() {
            self.fill(block, part);
            coded.lower_cuts(&mut self.tile, codes);
            self.num_coded_rows += self.tile.len() as u64;
            if coded.panels.is_empty() {
                (0..coded.queries.len()).for_each(|query| self.scan_codes(query, coded, codes));
                continue;
            }
            self.code_tile.fill(&self.tile, codes);
            let rest = &rows[((index + 1) * rows_per_tile).min(rows.len())..];
            let ask = |row: u64| (plan.kernels.prefetch_far)(codes.bytes((row - block.first_row) as usize));
            let mut upcoming = Upcoming::new(&rest[..rest.len().min(rows_per_tile)], ask, &coded.panels, &self.tile);
            let tile = &self.code_tile;
            for panel in &coded.panels {
                let mut score = |at: [usize; PANEL_ROWS], cut: &PanelCut, row_cuts: &_, scores: &mut _| {
                    upcoming.ask_for_more();
                    let scales = tile.scales(panel, at);
                    let rows = at.map(|index| tile.codes(index));
                    (plan.kernels.panel_codes)(&panel.panel.lanes, rows, &scales, cut, row_cuts, scores)
                };
                self.found.score_panel(&panel.panel, &self.tile, &mut score);
            }
        }
    }

    fn fill(&mut self, block: BlockView<'a>, rows: &[u64]) {
        let plan = self.plan;
        self.num_zero_rows += self.tile.fill(block, rows, &plan.bounds[0], plan.queries.metric) as u64;
    }

    /// One query against the rows of the tile.
    fn scan(&mut self, query: usize) {
        let plan = self.plan;
        let kernel = plan.kernels.row(plan.queries.kind);
        let vector = &plan.queries.queries[query].for_kernel;
        let ahead = SCAN_AHEAD_BYTES.div_ceil(vector.len() * 4);
        let mut cut = self.found.current_cut(query);
        for index in 0..self.tile.len() {
            if index + ahead < self.tile.len() {
                (plan.kernels.prefetch)(bytemuck::cast_slice(self.tile.values(index + ahead)));
            }
            let score = kernel(vector, self.tile.values(index));
            if cut.passes(self.tile.cuts[index], score) && self.found.offer(query, &self.tile, index, score) {
                cut = self.found.current_cut(query);
            }
        }
    }

    /// One query against the codes of the tile's rows.
    fn scan_codes(&mut self, query: usize, coded: &CodedQueries, codes: &CodesView<'_>) {
        let plan = self.plan;
        let vector = &coded.queries[query];
        let ahead = SCAN_AHEAD_BYTES.div_ceil(codes.stride);
        let mut cut = self.found.current_cut(query);
        for index in 0..self.tile.len() {
            if index + ahead < self.tile.len() {
                (plan.kernels.prefetch)(codes.bytes(self.tile.row_in_block(index + ahead)));
            }
            let row = self.tile.row_in_block(index);
            let dot = (plan.kernels.codes)(&vector.codes, codes.codes(row)) as f32;
            let score = dot * (codes.scales[row] * vector.scale);
            if cut.passes(self.tile.cuts[index], score) && self.found.offer(query, &self.tile, index, score) {
                cut = self.found.current_cut(query);
            }
        }
    }
}

fn rows_per_tile(is_scan: bool, row_bytes: usize) -> usize {
    if is_scan {
        return SCAN_TILE_ROWS;
    }
    (TILE_BYTES / row_bytes).clamp(PANEL_ROWS, 512).next_multiple_of(PANEL_ROWS)
}

impl<'r, F: Fn(u64)> Upcoming<'r, F> {
    /// Spreads `rows` over the kernel calls that score `tile` against `panels`.
    fn new<T>(rows: &'r [u64], ask: F, panels: &[T], tile: &RowTile<'_>) -> Self {
        let num_steps = (panels.len() * tile.len().div_ceil(PANEL_ROWS)).max(1);
        Self { rows, ask, step: 0, num_steps }
    }

    fn ask_for_more(&mut self) {
        let share = |step: usize| (self.rows.len() * step / self.num_steps).min(self.rows.len());
        self.rows[share(self.step)..share(self.step + 1)].iter().for_each(|&row| (self.ask)(row));
        self.step += 1;
    }
}

impl Found<'_> {
    /// A panel of queries against the rows of the tile, which `score` scores a few at a time.
    fn score_panel<T>(
        &mut self,
        panel: &Panel<T>,
        tile: &RowTile<'_>,
        score: &mut impl FnMut([usize; PANEL_ROWS], &PanelCut, &[RowCut; PANEL_ROWS], &mut PanelScores) -> [u16; PANEL_ROWS],
    ) {
        let mut cut = PanelCut::CLOSED;
        for lane in 0..panel.num_queries {
            cut.set(lane, self.current_cut(panel.first_query + lane));
        }
        let mut scores = [[0.0; PANEL_QUERIES]; PANEL_ROWS];
        for first in (0..tile.len()).step_by(PANEL_ROWS) {
            let at = std::array::from_fn(|offset| (first + offset).min(tile.len() - 1));
            let masks = score(at, &cut, &at.map(|index| tile.cuts[index]), &mut scores);
            for (offset, &mask) in masks.iter().enumerate().take(tile.len() - first) {
                self.offer_lanes(panel, tile, first + offset, mask, &scores[offset], &mut cut);
            }
        }
    }

    fn offer_lanes<T>(
        &mut self,
        panel: &Panel<T>,
        tile: &RowTile<'_>,
        index: usize,
        mask: u16,
        scores: &[f32; PANEL_QUERIES],
        cut: &mut PanelCut,
    ) {
        let mut lanes = mask;
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            if lane < panel.num_queries && self.offer(panel.first_query + lane, tile, index, scores[lane]) {
                cut.set(lane, self.current_cut(panel.first_query + lane));
            }
        }
    }

    /// Offers a row of the tile to a query's list; true if the threshold rose.
    fn offer(&mut self, query: usize, tile: &RowTile<'_>, index: usize, score: f32) -> bool {
        let error = tile.errors.get(index).copied().map_or(0.0, f64::from);
        let interval = self.plan.bounds[query].interval(score, tile.norms[index], error);
        let has_risen = self.lists[query].push(Candidate { row: tile.rows[index], interval }, &mut self.scorer);
        if has_risen {
            self.plan.publish_threshold(query, self.lists[query].threshold());
        }
        has_risen
    }

    fn current_cut(&mut self, query: usize) -> QueryCut {
        self.lists[query].raise_threshold(self.plan.shared_threshold(query));
        self.plan.bounds[query].query_cut(self.lists[query].threshold())
    }
}
