// score_rows_subgroup: as score_rows, on devices whose subgroups add up without workgroup memory.
//
// A subgroup takes a row at a time, so that a row's vec4s are read side by side; thirty-two rows per workgroup,
// whatever the size of a subgroup. No barrier: subgroups go on by themselves.
//
//   for each row of the subgroup, for each query:
//     score = subgroup sum over quads lane, lane + size, … of row · query   (or of |query - row|²)
//     if the row may be returned and the score is not below the cut: append (row, score, sure, reach) to the query's list
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
// Limits: any number of queries and dimensions; rows in one dispatch up to 2³² - 1.
// CPU twin: `cpu/kernel/scalar.rs` (one row against one query); compared in `gpu/twin.rs`.

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
const ROWS_PER_GROUP: u32 = 32u;

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

@compute @workgroup_size(256)
fn score_rows_subgroup(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(num_subgroups) num_subgroups: u32,
    @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32,
) {
    let group_index = group.y * params.groups_per_line + group.x;
    if group_index == 0u && local == 0u {
        atomicAdd(&found.num_dispatches, 1u);
        atomicStore(&found.nonce, params.nonce);
    }
    let first_row = params.start_row + group_index * ROWS_PER_GROUP;
    for (var slot = subgroup; slot < ROWS_PER_GROUP; slot += num_subgroups) {
        let row = first_row + slot;
        let is_inside = row < params.end_row && found.halted == 0u;
        for (var query = 0u; query < params.num_queries; query++) {
            var sum = 0.0;
            if is_inside {
                for (var quad = lane; quad < params.num_quads; quad += size) {
                    sum += term(queries[query * params.num_quads + quad], row_quad(row, quad));
                }
            }
            let score = subgroupAdd(sum);
            if is_inside && lane == 0u {
                offer(query, row, score);
            }
        }
    }
}
