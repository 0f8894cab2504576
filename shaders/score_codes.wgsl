// score_codes: a few queries against the int8 codes of many rows; a quarter of the bytes of score_rows.
//
// Eight lanes share a row, so that a row's vec4s are read side by side, and add their partial sums in
// workgroup memory. Thirty-two rows per workgroup. The sums are integers and exact.
//
//   for each query:
//     partial[lane] = sum over 16-byte words lane, lane + 8, … of row codes · query codes
//     score[row] = sum of the row's 8 partials · row scale · query scale
//     if the row may be returned and the score is not below the cut: append (row, score, sure, reach) to the query's list
//
// The cut is lowered by what the codes leave out of the row (in delta) and of the query (spread · nu).
//
// | binding | what | size |
// |---|---|---|
// | 0 | params (uniform, dynamic offset) | 64 bytes |
// | 1 | codes of the rows, four to a word | rows × stride |
// | 2 | per-row part of the cut: alpha, nu, delta, scale of the codes | rows × 16 bytes |
// | 3 | one bit per row: may be returned (read if has_mask) | rows / 8 bytes |
// | 4 | codes of the queries, four to a word | queries × num_quads × 16 bytes |
// | 5 | per-query part of the cut: t, b, scale of the codes, spread | queries × 16 bytes |
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
// Limits: any number of queries; up to 65 536 dimensions, for which sums stay within 32 bits.
// CPU twin: `cpu/kernel/scalar.rs` (codes against codes); compared in `gpu/twin.rs`.

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
@group(0) @binding(4) var<storage, read> queries: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> query_cuts: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> found: Found;
@group(0) @binding(7) var<storage, read_write> candidates: array<vec4<u32>>;

// Room for the rounding of the numbers that become keys.
const SLACK: f32 = 3.814697265625e-6;
// Rows shorter than this divide badly.
const MIN_ALPHA: f32 = 1e-30;
const LANES: u32 = 8u;
const ROWS_PER_GROUP: u32 = 32u;

var<workgroup> partials: array<i32, 256>;

fn dot_words(a: vec4<u32>, b: vec4<u32>) -> i32 {
    return dot4I8Packed(a.x, b.x) + dot4I8Packed(a.y, b.y) + dot4I8Packed(a.z, b.z) + dot4I8Packed(a.w, b.w);
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

fn offer(query: u32, row: u32, total: i32) {
    let query_cut = query_cuts[query];
    let row_cut = row_cuts[row];
    let score = f32(total) * (row_cut.w * query_cut.z);
    let toll = query_cut.y * row_cut.y;
    let error = row_cut.z + query_cut.w * row_cut.y;
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

@compute @workgroup_size(256)
fn score_codes(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group_index = group.y * params.groups_per_line + group.x;
    if group_index == 0u && local == 0u {
        atomicAdd(&found.num_dispatches, 1u);
        atomicStore(&found.nonce, params.nonce);
    }
    let lane = local % LANES;
    let row = params.start_row + group_index * ROWS_PER_GROUP + local / LANES;
    let is_inside = row < params.end_row && found.halted == 0u;
    for (var query = 0u; query < params.num_queries; query++) {
        var sum = 0;
        if is_inside {
            for (var quad = lane; quad < params.num_quads; quad += LANES) {
                sum += dot_words(queries[query * params.num_quads + quad], rows[row * params.row_stride + quad]);
            }
        }
        partials[local] = sum;
        workgroupBarrier();
        for (var step = LANES / 2u; step > 0u; step /= 2u) {
            if lane < step {
                partials[local] += partials[local + step];
            }
            workgroupBarrier();
        }
        if is_inside && lane == 0u {
            offer(query, row, partials[local]);
        }
        workgroupBarrier();
    }
}
