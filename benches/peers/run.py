"""Outcrop's engine beside FAISS, usearch and numpy: same machine, same data, same threads, one run.

    python run.py --ours PATH_TO_peers-ours [--rows 200000] [--dims 768] [--k 10] [--repeats 5] [--record FOLDER]

Makes seeded random unit vectors, lets every library find the k highest dot products for 1, 8, 64
and 512 queries (and for 1 and 64 queries over a fifth of the rows; ours also over int8 codes, with
the same answer), checks that the ids agree, prints a table of medians in milliseconds and writes
it as JSON.
"""

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import faiss
import numpy as np
import usearch
from usearch.index import MetricKind, search as usearch_search

BATCHES = (1, 8, 64, 512)
FILTERED_BATCHES = (1, 64)
FILTER_STEP = 5


def unit_vectors(seed, count, dims):
    vectors = np.random.default_rng(seed).standard_normal((count, dims), dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def median_ms(run, repeats):
    """The median time of `repeats` runs after one that warms up, and the last answer."""
    answer = run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        answer = run()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times), answer


def time_faiss(index, queries, k, repeats, selector=None):
    params = faiss.SearchParameters(sel=selector) if selector is not None else None
    return median_ms(lambda: index.search(queries, k, params=params)[1], repeats)


def time_usearch(rows, queries, k, repeats, threads):
    return median_ms(
        lambda: np.atleast_2d(usearch_search(rows, queries, k, MetricKind.IP, exact=True, threads=threads).keys),
        repeats,
    )


def time_numpy(rows, queries, k, repeats):
    def run():
        scores = queries @ rows.T
        best = np.argpartition(-scores, k, axis=1)[:, :k]
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1)
        return np.take_along_axis(best, order, axis=1)

    return median_ms(run, repeats)


def run_ours(binary, folder, rows, queries, arguments):
    rows.tofile(folder / "rows.f32")
    queries.tofile(folder / "queries.f32")
    command = [binary, folder / "rows.f32", folder / "queries.f32", arguments.dims, arguments.k, arguments.repeats]
    output = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout
    lines = [json.loads(line) for line in output.splitlines()]
    return lines[0], lines[1:]


def agreement(ours, theirs):
    """The share of queries whose set of ids is the same; f32 near-ties may differ at the edge."""
    pairs = list(zip(ours, theirs.tolist()))
    return sum(set(mine) == set(other) for mine, other in pairs) / len(pairs)


def compare(line, rows, queries, index, arguments):
    batch, is_filtered = line["queries"], line["filter_percent"] < 100
    part = queries[:batch]
    row = {
        "precision": line["precision"],
        "rows": len(rows),
        "dims": arguments.dims,
        "queries": batch,
        "k": arguments.k,
        "filter_percent": line["filter_percent"],
        "ours_ms": line["ms"],
        "ours_best_ms": line["best_ms"],
    }
    if is_filtered:
        selector = faiss.IDSelectorBatch(np.arange(0, len(rows), FILTER_STEP))
        row["faiss_ms"], answer = time_faiss(index, part, arguments.k, arguments.repeats, selector)
    else:
        row["faiss_ms"], answer = time_faiss(index, part, arguments.k, arguments.repeats)
        if batch <= 64:
            row["usearch_ms"], _ = time_usearch(rows, part, arguments.k, arguments.repeats, arguments.threads)
            row["numpy_ms"], _ = time_numpy(rows, part, arguments.k, arguments.repeats)
    row["same_ids_as_faiss"] = agreement(line["ids"], answer)
    for peer in ("faiss", "usearch", "numpy"):
        if f"{peer}_ms" in row:
            row[f"ratio_to_{peer}"] = round(row[f"{peer}_ms"] / row["ours_ms"], 2)
    return row


def cpu_name():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def print_table(machine, table):
    print(json.dumps(machine))
    columns = ["precision", "queries", "filter_percent", "ours_ms", "faiss_ms", "usearch_ms", "numpy_ms", "ratio_to_faiss", "same_ids_as_faiss"]
    print(" ".join(f"{column:>18}" for column in columns))
    for row in table:
        cells = (row.get(column, "") for column in columns)
        print(" ".join(f"{cell:>18.3f}" if isinstance(cell, float) else f"{cell:>18}" for cell in cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", required=True, type=Path)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--dims", type=int, default=768)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--record", type=Path)
    arguments = parser.parse_args()
    faiss.omp_set_num_threads(arguments.threads)
    rows = unit_vectors(1, arguments.rows, arguments.dims)
    queries = unit_vectors(2, max(BATCHES), arguments.dims)
    with tempfile.TemporaryDirectory() as folder:
        about, lines = run_ours(arguments.ours, Path(folder), rows, queries, arguments)
    index = faiss.IndexFlatIP(arguments.dims)
    index.add(rows)
    table = [compare(line, rows, queries, index, arguments) for line in lines]
    machine = {
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "threads": arguments.threads,
        "load_before": os.getloadavg()[0],
        "system": platform.platform(),
        "ours": about["backend"],
        "read_gb_per_s": about["read_gb_per_s"],
        "faiss": faiss.__version__,
        "usearch": usearch.__version__,
        "numpy": np.__version__,
    }
    print_table(machine, table)
    if arguments.record:
        arguments.record.mkdir(parents=True, exist_ok=True)
        slug = "".join(letter if letter.isalnum() else "-" for letter in cpu_name().lower()).strip("-")
        name = f"{datetime.date.today()}-peers-{slug}-{arguments.rows}x{arguments.dims}.json"
        (arguments.record / name).write_text(json.dumps({"machine": machine, "rows": table}, indent=1) + "\n")
    if any(row["same_ids_as_faiss"] < 0.99 for row in table):
        sys.exit("the ids disagree")


if __name__ == "__main__":
    main()
