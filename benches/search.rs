//! Searches of the engine alone: batch sizes, codes, filters, k, backends, beside what the machine can read.
//!
//! `OUTCROP_BENCH_ROWS` and `OUTCROP_BENCH_DIMS` set the size (200 000 × 384 if not given).
#![allow(missing_docs, reason = "criterion's macros make an undocumented function")]
#![allow(clippy::unwrap_used, reason = "a bench that cannot be set up stops")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use engine::{Backend, GpuMode, Precision, Query, RowFilter, Searcher, SearcherOptions, Snapshot};

use benches::{Rng, make_file, sum_words};

fn size_from(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn searcher(gpu: GpuMode) -> Searcher {
    Searcher::new(&SearcherOptions { gpu, threads: None }).unwrap()
}

fn search(searcher: &Searcher, snapshot: &Snapshot, query: &Query<'_>) {
    black_box(searcher.search(snapshot, query).unwrap());
}

fn bench_read_bandwidth(criterion: &mut Criterion) {
    let words = vec![1_u64; 32 << 20];
    let mut group = criterion.benchmark_group("read");
    group.throughput(Throughput::Bytes(size_of_val(&words[..]) as u64));
    group.bench_function("one thread", |bencher| {
        bencher.iter(|| black_box(sum_words(&words)));
    });
    group.finish();
}

fn bench_search(criterion: &mut Criterion) {
    let (rows, dims) = (size_from("OUTCROP_BENCH_ROWS", 200_000), size_from("OUTCROP_BENCH_DIMS", 384));
    let (folder, mut file) = make_file("search", rows, dims).unwrap();
    file.write_codes().unwrap();
    let snapshot = file.snapshot();
    let cpu = searcher(GpuMode::Off);
    eprintln!("{rows} rows x {dims} dimensions, {}", cpu.backend_name());
    let queries = Rng(7).unit_vectors(512, dims);
    bench_batches(criterion, "cpu", &cpu, &snapshot, &queries);
    bench_certified(criterion, &cpu, &snapshot, &queries);
    bench_filters(criterion, &cpu, &snapshot, &queries);
    bench_k(criterion, &cpu, &snapshot, &queries);
    let auto = searcher(GpuMode::Auto);
    // The first search that is large enough opens the GPU.
    let first = auto.search(&snapshot, &Query { k: 10, ..Query::new(&queries) }).unwrap();
    if first.backend == Backend::Gpu {
        eprintln!("{}", auto.backend_name());
        bench_batches(criterion, "gpu", &auto, &snapshot, &queries);
    }
    std::fs::remove_dir_all(folder).unwrap();
}

fn bench_batches(criterion: &mut Criterion, name: &str, searcher: &Searcher, snapshot: &Snapshot, queries: &[f32]) {
    let mut group = criterion.benchmark_group(format!("search/{name}"));
    group.sample_size(10);
    for count in [1, 2, 8, 64, 512] {
        let part = &queries[..count * snapshot.dims()];
        group.throughput(Throughput::Elements(count as u64 * snapshot.num_rows()));
        group.bench_with_input(BenchmarkId::new("queries", count), &part, |bencher, part| {
            bencher.iter(|| search(searcher, snapshot, &Query::new(part)));
        });
    }
    group.finish();
}

fn bench_certified(criterion: &mut Criterion, searcher: &Searcher, snapshot: &Snapshot, queries: &[f32]) {
    let mut group = criterion.benchmark_group("certified");
    group.sample_size(10);
    for count in [1, 8, 64, 512] {
        let part = &queries[..count * snapshot.dims()];
        group.throughput(Throughput::Elements(count as u64 * snapshot.num_rows()));
        let query = Query { precision: Precision::Certified, ..Query::new(part) };
        group.bench_with_input(BenchmarkId::new("queries", count), &query, |bencher, query| {
            bencher.iter(|| search(searcher, snapshot, query));
        });
    }
    group.finish();
}

fn bench_filters(criterion: &mut Criterion, searcher: &Searcher, snapshot: &Snapshot, queries: &[f32]) {
    let mut group = criterion.benchmark_group("filter");
    group.sample_size(10);
    for percent in [1, 20, 70] {
        let filter =
            RowFilter::from_predicate(snapshot, |id| id.wrapping_mul(0x9E37_79B9) >> 7 & 0x7F < percent * 128 / 100);
        for count in [1, 64] {
            let query = Query { filter: Some(&filter), ..Query::new(&queries[..count * snapshot.dims()]) };
            let id = BenchmarkId::new(format!("{percent} percent"), count);
            group.bench_with_input(id, &query, |bencher, query| {
                bencher.iter(|| search(searcher, snapshot, query));
            });
        }
    }
    group.finish();
}

fn bench_k(criterion: &mut Criterion, searcher: &Searcher, snapshot: &Snapshot, queries: &[f32]) {
    let mut group = criterion.benchmark_group("k");
    group.sample_size(10);
    for k in [1, 10, 100, 1024] {
        let query = Query { k, ..Query::new(&queries[..snapshot.dims()]) };
        group.bench_with_input(BenchmarkId::from_parameter(k), &query, |bencher, query| {
            bencher.iter(|| search(searcher, snapshot, query));
        });
    }
    group.finish();
}

criterion_group!(search_benches, bench_read_bandwidth, bench_search);
criterion_main!(search_benches);
