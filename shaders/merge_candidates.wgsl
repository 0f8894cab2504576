// merge_candidates: raises a query's t to what its candidates prove, and drops those that no longer matter.
//
// One workgroup per query, after the rows of a round were scored; the next round needs no host in between. For k up to
// 1024; `select_candidates` is for more.
//
//   if a list overflowed in this round: every list becomes what the round before left, the queue is halted
//   top = nothing
//   for each 1024 candidates (the first time 2048): top = the 1024 largest `sure` of them and top   (bitonic sort)
//   t = max(t, top[k - 1])
//   the list becomes its candidates whose `reach` is not below t
//
// | binding | what | size |
// |---|---|---|
// | 0 | params (uniform, dynamic offset); `start_row`, `end_row` are queries | 64 bytes |
// | 5 | per-query part of the cut: t (raised), b, unused, unused | queries × 16 bytes |
// | 6 | found: counters, then (candidates, candidates kept) per query | 16 bytes + queries × 8 bytes |
// | 7 | candidates: (row, score bits, sure, reach) | queries × capacity × 16 bytes |
//
// Nothing is lost: k rows have a canonical score, as a t, of at least their `sure`, so the k-th largest `sure` is at
// most the k-th best canonical score. A row of the answer is not below that score, and its `reach` not below its own
// score. So a row that is dropped, or that the score kernels do not append under the new t, is not in the answer. More
// than k stay where their bounds overlap; the host scores those canonically. Where a list holds fewer than k, t stays.
//
// Limits: k <= 1024; 8 KiB of workgroup memory: only keys are sorted, since what stays is decided by `reach`.
// CPU twin: `merge_twin` in `gpu/twin.rs`.

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
@group(0) @binding(5) var<storage, read_write> query_cuts: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> found: Found;
@group(0) @binding(7) var<storage, read_write> candidates: array<vec4<u32>>;

const THREADS: u32 = 256u;
// Stands for the length of a list that is left as it is.
const LEAVE: u32 = 0xFFFFFFFFu;
const WIDTH: u32 = 2048u;
const TOP: u32 = 1024u;

var<workgroup> keys: array<u32, 2048>;
var<workgroup> list_length: u32;
var<workgroup> num_kept: atomic<u32>;

// A number as an integer, in the same order.
fn key(value: f32) -> u32 {
    let bits = bitcast<u32>(value);
    return select(bits | 0x80000000u, ~bits, bits >= 0x80000000u);
}

fn number(key: u32) -> f32 {
    return bitcast<f32>(select(~key, key & 0x7FFFFFFFu, key >= 0x80000000u));
}

// The length of a query's list; after an overflow, what the round before left of it.
fn length_of(query: u32) -> u32 {
    if query >= params.end_row {
        return LEAVE;
    }
    if atomicLoad(&found.overflow) != 0u {
        atomicStore(&found.counts[query * 2u], atomicLoad(&found.counts[query * 2u + 1u]));
        return LEAVE;
    }
    return atomicLoad(&found.counts[query * 2u]);
}

fn sign_in(group_index: u32) {
    if group_index == 0u {
        atomicAdd(&found.num_dispatches, 1u);
        atomicStore(&found.nonce, params.nonce);
        if atomicLoad(&found.overflow) != 0u && found.halted == 0u {
            found.halted = params.round + 1u;
        }
    }
}

// Sorts the first `width` keys, a power of two, largest first.
fn sort_keys(width: u32, local: u32) {
    for (var size = 2u; size <= width; size *= 2u) {
        for (var step = size / 2u; step > 0u; step /= 2u) {
            for (var pair = local; pair < width / 2u; pair += THREADS) {
                let low = 2u * step * (pair / step) + pair % step;
                let a = keys[low];
                let b = keys[low + step];
                if (a < b) == ((low & size) == 0u) {
                    keys[low] = b;
                    keys[low + step] = a;
                }
            }
            workgroupBarrier();
        }
    }
}

@compute @workgroup_size(256)
fn merge_candidates(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let group_index = group.y * params.groups_per_line + group.x;
    let query = params.start_row + group_index;
    if local == 0u {
        sign_in(group_index);
        list_length = length_of(query);
        atomicStore(&num_kept, 0u);
    }
    let length = workgroupUniformLoad(&list_length);
    let count = select(length, 0u, length == LEAVE);
    let first = query * params.capacity;
    var cut = 0u;
    var width = 1u;
    while width < min(count, WIDTH) {
        width *= 2u;
    }
    var loaded = 0u;
    while loaded < count {
        let from_slot = select(TOP, 0u, loaded == 0u);
        for (var slot = from_slot + local; slot < width; slot += THREADS) {
            let at = loaded + (slot - from_slot);
            var sure = 0u;
            if at < count {
                sure = candidates[first + at].z;
            }
            keys[slot] = sure;
        }
        workgroupBarrier();
        sort_keys(width, local);
        loaded += width - from_slot;
    }
    if count >= params.k {
        cut = keys[params.k - 1u];
    }
    // A t is raised, never lowered.
    if query < params.end_row {
        cut = max(cut, key(query_cuts[query].x));
    }
    for (var start = 0u; start < count; start += THREADS) {
        let at = start + local;
        var entry = vec4<u32>();
        if at < count {
            entry = candidates[first + at];
        }
        // All 256 are read before any place is written to, and no place lies behind them.
        storageBarrier();
        workgroupBarrier();
        if at < count && entry.w >= cut {
            candidates[first + atomicAdd(&num_kept, 1u)] = entry;
        }
    }
    workgroupBarrier();
    if local == 0u && length != LEAVE {
        let kept = atomicLoad(&num_kept);
        atomicStore(&found.counts[query * 2u], kept);
        atomicStore(&found.counts[query * 2u + 1u], kept);
        query_cuts[query].x = number(cut);
    }
}
