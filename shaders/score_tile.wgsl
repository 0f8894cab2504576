// score_tile: a batch of queries against many rows; compute-bound.
//
// A workgroup scores 64 rows against 64 queries, a thread 4 × 4 of them in registers. Sixteen
// dimensions at a time are brought into workgroup memory.
//
//   for each slab of 16 dimensions:
//     row_tile, query_tile = the slab of 64 rows, of 64 queries
//     acc[i][j] += row_i · query_j   (or -|query_j - row_i|²), 4 dimensions at a time
//   for each of the 16 sums: if the row may be returned and the sum is not below the cut:
//     append (row, score, sure, reach) to the query's list
//
// | binding | what | size |
// |---|---|---|
// | 0 | params (uniform, dynamic offset) | 64 bytes |
// | 1 | rows as stored, f32 or f16 | rows × stride |
// | 2 | per-row part of the cut: alpha, nu, delta, unused | rows × 16 bytes |
// | 3 | one bit per row: may be returned (read if has_mask) | rows / 8 bytes |
// | 4 | queries, f32, padded with zeros | queries × num_quads × 16 bytes |
// | 5 | per-query part of the cut: t, b, unused, unused | queries × 16 bytes |
// | 6 | found: counters, then (candidates, candidates kept) per query | 16 bytes + queries × 8 bytes |
// | 7 | candidates: (row, score bits, sure, reach) | queries × capacity × 16 bytes |
//
// `sure` and `reach` are keys (unsigned integers in the order of the numbers) of what the score proves: the
// canonical score, as a t, is at least `sure` and at most `reach`. Both leave room for every rounding on the way,
// those here too (`bound.rs`), so a row that belongs to the answer has a `reach` not below any proven t.
//
// Where a list is full, `overflow` is set and the host does the round again in smaller ones; after a merge saw it
// (`halted`), what is still in the queue does nothing.
//
// Limits: 8 KiB of workgroup memory; a dispatch has ⌈rows / 64⌉ × ⌈queries / 64⌉ groups.
// CPU twin: `cpu/kernel/scalar.rs` (a panel of queries against rows); compared in `gpu/twin.rs`.

struct Params {
    start_row: u32,
    end_row: u32,
    first_file_row: u32,
    num_queries: u32,
    num_quads: u32,
    row_stride: u32,
    capacity: u32,
    has_mask: u32,
    nonce: u32,
    groups_per_line: u32,
    k: u32,
    round: u32,
    stretch: f32,
    floor: f32,
    reserved_0: u32,
    reserved_1: u32,
}

struct Found {
    overflow: atomic<u32>,
    num_dispatches: atomic<u32>,
    nonce: atomic<u32>,
    halted: u32,
    counts: array<atomic<u32>>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> rows: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> row_cuts: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> row_mask: array<u32>;
@group(0) @binding(4) var<storage, read> queries: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> query_cuts: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> found: Found;
@group(0) @binding(7) var<storage, read_write> candidates: array<vec4<u32>>;

override IS_L2: bool = false;
override IS_F16: bool = false;

// Room for the rounding of the numbers that become keys.
const SLACK: f32 = 3.814697265625e-6;
// Rows shorter than this divide badly.
const MIN_ALPHA: f32 = 1e-30;
const TILE: u32 = 64u;
const SLAB_QUADS: u32 = 4u;

var<workgroup> row_tile: array<vec4<f32>, 256>;
var<workgroup> query_tile: array<vec4<f32>, 256>;

fn row_quad(row: u32, quad: u32) -> vec4<f32> {
    if IS_F16 {
        let words = rows[row * params.row_stride + quad / 2u];
        let halves = select(words.xy, words.zw, quad % 2u == 1u);
        return vec4<f32>(unpack2x16float(halves.x), unpack2x16float(halves.y));
    }
    return bitcast<vec4<f32>>(rows[row * params.row_stride + quad]);
}

fn term(query: vec4<f32>, row: vec4<f32>) -> f32 {
    if IS_L2 {
        let difference = query - row;
        return -dot(difference, difference);
    }
    return dot(query, row);
}

fn terms(row: vec4<f32>, q0: vec4<f32>, q1: vec4<f32>, q2: vec4<f32>, q3: vec4<f32>) -> vec4<f32> {
    return vec4<f32>(term(q0, row), term(q1, row), term(q2, row), term(q3, row));
}

fn may_return(row: u32) -> bool {
    if params.has_mask == 0u {
        return true;
    }
    return ((row_mask[row / 32u] >> (row % 32u)) & 1u) == 1u;
}

// A number as an integer, in the same order.
fn key(value: f32) -> u32 {
    let bits = bitcast<u32>(value);
    return select(bits | 0x80000000u, ~bits, bits >= 0x80000000u);
}

// What a score proves, as keys of t: `sure`, `reach`.
fn proven(score: f32, toll: f32, error: f32, alpha: f32) -> vec2<u32> {
    if alpha < MIN_ALPHA {
        return vec2<u32>(0u, 0xFFFFFFFFu);
    }
    let room = error + SLACK * (abs(score) + abs(toll) + error);
    let low = (score * params.stretch - toll - room) / alpha;
    let high = (score - toll + room) / alpha;
    return vec2<u32>(
        key(low - (SLACK * abs(low) + params.floor)),
        key(high + (SLACK * abs(high) + params.floor)),
    );
}

fn offer(query: u32, row: u32, score: f32) {
    if query >= params.num_queries || row >= params.end_row {
        return;
    }
    let query_cut = query_cuts[query];
    let row_cut = row_cuts[row];
    let toll = query_cut.y * row_cut.y;
    let error = row_cut.z;
    if score < query_cut.x * row_cut.x + (toll - error) || !may_return(row) {
        return;
    }
    let slot = atomicAdd(&found.counts[query * 2u], 1u);
    if slot >= params.capacity {
        atomicStore(&found.overflow, 1u);
        return;
    }
    let keys = proven(score, toll, error, row_cut.x);
    let entry = vec4<u32>(params.first_file_row + row, bitcast<u32>(score), keys.x, keys.y);
    candidates[query * params.capacity + slot] = entry;
}

fn offer_row(query: u32, row: u32, scores: vec4<f32>) {
    offer(query, row, scores.x);
    offer(query + 1u, row, scores.y);
    offer(query + 2u, row, scores.z);
    offer(query + 3u, row, scores.w);
}

@compute @workgroup_size(256)
fn score_tile(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group_index = group.y * params.groups_per_line + group.x;
    if group_index == 0u && local == 0u {
        atomicAdd(&found.num_dispatches, 1u);
        atomicStore(&found.nonce, params.nonce);
    }
    // Barriers stand in loops over params alone: not every compiler sees that this is the same for all threads.
    let is_live = found.halted == 0u;
    let query_tiles = (params.num_queries + TILE - 1u) / TILE;
    let first_row = params.start_row + (group_index / query_tiles) * TILE;
    let first_query = (group_index % query_tiles) * TILE;
    // What this thread brings in, and what it scores.
    let load_row = first_row + local / SLAB_QUADS;
    let load_query = first_query + local / SLAB_QUADS;
    let my_rows = (local / 16u) * 4u;
    let my_queries = (local % 16u) * 4u;
    var sums_0 = vec4<f32>();
    var sums_1 = vec4<f32>();
    var sums_2 = vec4<f32>();
    var sums_3 = vec4<f32>();
    for (var slab = 0u; slab < params.num_quads; slab += SLAB_QUADS) {
        let quad = slab + local % SLAB_QUADS;
        var row_values = vec4<f32>();
        var query_values = vec4<f32>();
        if is_live && quad < params.num_quads && load_row < params.end_row {
            row_values = row_quad(load_row, quad);
        }
        if is_live && quad < params.num_quads && load_query < params.num_queries {
            query_values = queries[load_query * params.num_quads + quad];
        }
        // Quads of one slab lie TILE apart, so that neighbours read neighbours.
        row_tile[(local % SLAB_QUADS) * TILE + local / SLAB_QUADS] = row_values;
        query_tile[(local % SLAB_QUADS) * TILE + local / SLAB_QUADS] = query_values;
        workgroupBarrier();
        if is_live {
            for (var step = 0u; step < SLAB_QUADS; step++) {
                let at = step * TILE;
                let q0 = query_tile[at + my_queries];
                let q1 = query_tile[at + my_queries + 1u];
                let q2 = query_tile[at + my_queries + 2u];
                let q3 = query_tile[at + my_queries + 3u];
                sums_0 += terms(row_tile[at + my_rows], q0, q1, q2, q3);
                sums_1 += terms(row_tile[at + my_rows + 1u], q0, q1, q2, q3);
                sums_2 += terms(row_tile[at + my_rows + 2u], q0, q1, q2, q3);
                sums_3 += terms(row_tile[at + my_rows + 3u], q0, q1, q2, q3);
            }
        }
        workgroupBarrier();
    }
    if !is_live {
        return;
    }
    let row = first_row + my_rows;
    let query = first_query + my_queries;
    offer_row(query, row, sums_0);
    offer_row(query, row + 1u, sums_1);
    offer_row(query, row + 2u, sums_2);
    offer_row(query, row + 3u, sums_3);
}
