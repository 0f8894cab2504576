//! What a file costs beside searching it: opening, appending, writing codes, verifying, sending it to a GPU.
#![allow(missing_docs, reason = "criterion's macros make an undocumented function")]
#![allow(clippy::unwrap_used, reason = "a bench that cannot be set up stops")]

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use engine::{Backend, FileSpec, Query, Searcher, SearcherOptions, VectorFile};

use benches::{Rng, make_file};

const DIMS: usize = 384;
const NUM_ROWS: usize = 50_000;

fn bench_open(criterion: &mut Criterion) {
    let (folder, mut file) = make_file("open", NUM_ROWS, DIMS).unwrap();
    let path = file.path().to_owned();
    let mut group = criterion.benchmark_group("open");
    group.bench_function("rows", |bencher| {
        bencher.iter(|| black_box(VectorFile::open_read_only(&path).unwrap().num_rows()));
    });
    file.write_codes().unwrap();
    file.delete(&[7]).unwrap();
    group.bench_function("rows, codes and tombstones", |bencher| {
        bencher.iter(|| black_box(VectorFile::open_read_only(&path).unwrap().num_rows()));
    });
    group.sample_size(10);
    group.bench_function("into memory", |bencher| {
        bencher.iter(|| black_box(VectorFile::open_in_memory(&path).unwrap().num_rows()));
    });
    group.bench_function("verify", |bencher| bencher.iter(|| black_box(file.verify().unwrap().is_sound())));
    group.bench_function("write codes", |bencher| bencher.iter(|| file.write_codes().unwrap()));
    group.finish();
    std::fs::remove_dir_all(folder).unwrap();
}

/// An append is durable on return, so small ones cost two waits for the disk whatever their size.
fn bench_append(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let mut group = criterion.benchmark_group("append");
    group.sample_size(10);
    for count in [1_usize, 100, 10_000] {
        let rows = Rng(3).unit_vectors(count, DIMS);
        let path = folder.path().join(format!("append-{count}.vec"));
        let mut file = VectorFile::create(&path, &FileSpec::new(DIMS as u32)).unwrap();
        group.throughput(Throughput::Elements(count as u64));
        let ids_after = |last: Option<u64>| {
            let first = last.unwrap_or(0) + 1;
            (first..first + count as u64).collect::<Vec<u64>>()
        };
        group.bench_with_input(BenchmarkId::new("rows", count), &rows, |bencher, rows| {
            bencher.iter_batched(
                || (),
                |()| file.append(&ids_after(file.last_id()), rows).unwrap(),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

/// The first search sends the rows to the GPU; later ones find them there.
fn bench_upload(criterion: &mut Criterion) {
    let (folder, file) = make_file("upload", NUM_ROWS, DIMS).unwrap();
    let queries = Rng(7).unit_vectors(64, DIMS);
    let first = || {
        let searcher = Searcher::new(&SearcherOptions::default()).unwrap();
        searcher.search(&file.snapshot(), &Query::new(&queries)).unwrap().backend
    };
    if first() == Backend::Gpu {
        let mut group = criterion.benchmark_group("upload");
        group.sample_size(10);
        group.throughput(Throughput::Bytes((NUM_ROWS * DIMS * 4) as u64));
        group.bench_function("open a GPU, send the rows, search once", |bencher| bencher.iter(|| black_box(first())));
        group.finish();
    } else {
        eprintln!("no GPU is used here: nothing to upload to");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

criterion_group!(file_benches, bench_open, bench_append, bench_upload);
criterion_main!(file_benches);
