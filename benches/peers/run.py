"""Outcrop's engine beside its peers: same machine, same vectors, same threads, one run.

    make peers
    python run.py --bin FOLDER [--rows 200000 --dims 768 | --vectors FILE.npy] [--batches 1,8,64,512] [--record FOLDER]

Lets every library find the k highest dot products of seeded random unit vectors (or of real ones) for 1, 8, 64 and
512 queries, for k = 1024, and among a fifth of the rows; ours over the stored values and over int8 codes, with the
same answer. Contenders take turns within each round, so that a busy moment hits all of them. Checks that the ids
agree, prints a table of medians in milliseconds, and writes or completes `DATE-peers-CPU.json`.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# The library chooses its best kernel itself.
os.environ.pop("OPENBLAS_CORETYPE", None)

import numpy as np

import memory
from contenders import PYTHON_PEERS, Ndarray, Ours

MAX_QUERIES = 512
PRECISIONS = ("f32", "certified")
# Slow contenders are timed less often.
SLOW_MS = 2_500
SLOW_REPEATS = 3
# The threads of OpenMP and BLAS spin for a while after their work, which the next contender would pay for.
SETTLE_SECONDS = 0.5
FILTER_STEP = 5


def unit_vectors(seed, count, dims):
    vectors = np.random.default_rng(seed).standard_normal((count, dims), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def make_data(folder, arguments):
    """The files of rows and queries and what to call them, made unless they are there."""
    if arguments.vectors:
        vectors = np.load(arguments.vectors, mmap_mode="r")
        name = arguments.vectors.stem
    else:
        vectors, name = None, f"random-{arguments.rows}x{arguments.dims}"
    rows, queries, ours = (folder / f"{name}{end}" for end in ("-rows.npy", "-queries.npy", ".vec"))
    if not rows.exists():
        if vectors is None:
            np.save(queries, unit_vectors(2, MAX_QUERIES, arguments.dims))
            np.save(rows, unit_vectors(1, arguments.rows, arguments.dims))
        else:
            # Real queries: rows spread over the file, kept out of it.
            picked = np.zeros(len(vectors), dtype=bool)
            picked[np.linspace(0, len(vectors) - 1, MAX_QUERIES).astype(int)] = True
            np.save(queries, vectors[picked])
            np.save(rows, vectors[~picked])
    if not ours.exists():
        subprocess.run([arguments.bin / "peers-ours", "import", rows, ours], check=True)
    return name, rows, queries, ours


def cases(arguments):
    """`(queries, k, filter step)`, quick ones first."""
    wanted = [int(batch) for batch in arguments.batches.split(",")]
    plain = [(batch, 10, 1) for batch in (1, 8, 64, 512)]
    large = [(batch, 1024, 1) for batch in (1, 64, 512)]
    filtered = [(batch, 10, FILTER_STEP) for batch in (1, 64)]
    return [case for case in plain + large + filtered if case[0] in wanted]


# Scores of rows that say the same differ by less; which of them comes first is each library's choice.
TIE = 1e-5


def agreement(ours, theirs, rows, queries):
    """The share of a peer's ids that are ours, or score as high as our last one."""
    agreed = 0
    for mine, other, query in zip(ours, theirs, queries):
        strangers = np.setdiff1d(other, mine).astype(int)
        worst = min(rows[mine.astype(int)] @ query) if len(strangers) else 0.0
        agreed += len(other) - sum(rows[stranger] @ query < worst - TIE for stranger in strangers)
    return agreed / ours.size


def time_all(ours, peers, case, repeats):
    """Per contender its times in milliseconds, its ids, and how many rows ours scored twice."""
    runners = {precision: lambda precision=precision: ours.timed(*case, precision) for precision in PRECISIONS}
    runners |= {peer.name: lambda peer=peer: peer.timed(*case) for peer in peers if peer.can(*case)}
    times, ids, rescored = {name: [] for name in runners}, {}, {}
    for turn in range(repeats + 1):
        for name, run in runners.items():
            if len(times[name]) >= SLOW_REPEATS and times[name][-1] > SLOW_MS:
                continue
            time.sleep(SETTLE_SECONDS)
            millis, ids[name] = run()
            rescored[name] = ours.last["rescored"]
            # The first turn only warms up.
            if turn > 0:
                times[name].append(millis)
    return times, ids, rescored


def compare(ours, peers, case, repeats, values, queries):
    """Medians of all contenders for one search: a row for each of our precisions, with the peers' times in both."""
    batch, k, step = case
    times, ids, rescored = time_all(ours, peers, case, repeats)
    medians = {name: statistics.median(millis) for name, millis in times.items()}
    rows = []
    for precision in PRECISIONS:
        row = {"precision": precision, "queries": batch, "k": k, "filter_percent": 100 // step}
        row["ours_ms"] = round(medians[precision], 3)
        row["ours_best_ms"] = round(min(times[precision]), 3)
        row["rescored_per_query"] = round(rescored[precision] / batch, 1)
        for name in (name for name in medians if name not in PRECISIONS):
            row[f"{name}_ms"] = round(medians[name], 3)
            row[f"ratio_to_{name}"] = round(medians[name] / medians[precision], 2)
        row["same_ids_in_f32"] = bool((ids[precision] == ids["f32"]).all())
        if "faiss" in ids:
            row["same_ids_as_faiss"] = round(agreement(ids[precision], ids["faiss"], values, queries), 5)
        rows.append(row)
    return rows


def start_peers(names, rows, queries, arguments, folder):
    peers, values = [], np.load(rows)
    for name in names:
        if name == "ndarray":
            peers.append(Ndarray([arguments.bin / "peers-ndarray", rows, queries], folder))
        else:
            try:
                peers.append(PYTHON_PEERS[name](values, np.load(queries), arguments.threads))
            except ImportError as err:
                print(f"without {name}: {err}", file=sys.stderr)
    return peers


def measure_memory(names, rows, queries, ours_file, arguments, folder):
    found = []
    for process in (
        Ours([arguments.bin / "peers-ours", "serve", ours_file, queries], folder),
        Ndarray([arguments.bin / "peers-ndarray", rows, queries], folder),
    ):
        found.append(memory.measure(process, process.process.pid))
        process.close()
    script = Path(memory.__file__)
    for name in (name for name in names if name in PYTHON_PEERS):
        done = subprocess.run([sys.executable, script, name, rows, queries], capture_output=True, text=True)
        found.append(json.loads(done.stdout) if done.returncode == 0 else {"peer": name, "failed": done.stderr[-200:]})
    return found


def cpu_name():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def version_of(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def describe_machine(about, arguments):
    packages = ("faiss-cpu", "usearch", "numpy", "hnswlib", "sqlite-vec", "apsw")
    return {
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "threads": arguments.threads,
        "load_before": round(os.getloadavg()[0], 2),
        "system": platform.platform(),
        "ours": about["backend"],
        "read_gb_per_s": about["read_gb_per_s"],
        "fma_gflops": about["fma_gflops"],
        "versions": {package: version_of(package) for package in packages} | {"ndarray": "0.17"},
    }


def with_fractions(row, machine, num_rows, dims):
    """How much of what the machine can do a pass over the stored values uses."""
    if row["precision"] == "f32" and row["filter_percent"] == 100:
        row["read_fraction"] = round(num_rows * dims * 4 / row["ours_ms"] / 1e6 / machine["read_gb_per_s"], 3)
        gflops = 2 * num_rows * dims * row["queries"] / row["ours_ms"] / 1e6
        row["fma_fraction"] = round(gflops / machine["fma_gflops"], 3)
    return row


def print_row(row):
    print(" ".join(f"{name}={value}" for name, value in row.items()), flush=True)


def write_record(folder, machine, table, memory_rows):
    """Adds to what the day already has for this CPU; the same search measured again replaces the older row."""
    folder.mkdir(parents=True, exist_ok=True)
    slug = "-".join("".join(letter if letter.isalnum() else " " for letter in cpu_name().lower()).split())
    path = folder / f"{datetime.date.today()}-peers-{slug}.json"
    record = json.loads(path.read_text()) if path.exists() else {"machine": machine, "rows": [], "memory": []}
    key = lambda row: tuple(row.get(field) for field in ("data", "precision", "queries", "k", "filter_percent", "peer"))
    for field, new in (("rows", table), ("memory", memory_rows)):
        kept = [row for row in record[field] if key(row) not in {key(row) for row in new}]
        record[field] = kept + new
    record["machine"] = machine
    lines = lambda rows: "[\n" + ",\n".join("  " + json.dumps(row) for row in rows) + "\n ]"
    parts = [f' "{name}": {lines(value) if isinstance(value, list) else json.dumps(value)}' for name, value in record.items()]
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=Path, help="folder with peers-ours and peers-ndarray")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--dims", type=int, default=768)
    parser.add_argument("--vectors", type=Path, help="real vectors in place of random ones")
    parser.add_argument("--batches", default="1,8,64,512")
    parser.add_argument("--peers", default="faiss,usearch,numpy,ndarray,hnswlib,sqlite_vec")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--data", type=Path, help="folder for the vectors, kept for the next run")
    parser.add_argument("--memory", action="store_true", help="measure peak memory in place of time")
    parser.add_argument("--record", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.data or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        name, rows, queries, ours_file = make_data(folder, arguments)
        names = [peer for peer in arguments.peers.split(",") if peer]
        num_rows, dims = np.load(rows, mmap_mode="r").shape
        ours = Ours([arguments.bin / "peers-ours", "serve", ours_file, queries], scratch)
        machine = describe_machine(ours.about, arguments)
        print(json.dumps(machine))
        table, memory_rows = [], []
        about_data = {"data": name, "rows": num_rows, "dims": dims}
        if arguments.memory:
            ours.close()
            memory_rows = [about_data | row for row in measure_memory(names, rows, queries, ours_file, arguments, scratch)]
            for row in memory_rows:
                print_row(row)
        else:
            peers = start_peers(names, rows, queries, arguments, scratch)
            values, asked = np.load(rows, mmap_mode="r"), np.load(queries)
            for case in cases(arguments):
                for row in compare(ours, peers, case, arguments.repeats, values, asked):
                    table.append(with_fractions(about_data | row, machine, num_rows, dims))
                    print_row(table[-1])
                if arguments.record:
                    write_record(arguments.record, machine, table, [])
            for contender in (ours, *peers):
                contender.close()
        if arguments.record and memory_rows:
            write_record(arguments.record, machine, [], memory_rows)
    if any(row.get("same_ids_as_faiss", 1) < 0.999 or not row["same_ids_in_f32"] for row in table):
        sys.exit("the ids disagree")


if __name__ == "__main__":
    main()
