"""Every library behind one interface: `search(num_queries, k, filter_step) -> ids`, one row of ids per query.

A contender says with `can` which searches it offers and is worth waiting for. Ours and the Rust brute force run in
processes of their own and time themselves; the others are timed here.
"""

import json
import subprocess
import time
from pathlib import Path

import numpy as np


class Contender:
    """One library with its vectors loaded."""

    name = ""

    def can(self, num_queries, k, filter_step):
        return filter_step == 1

    def search(self, num_queries, k, filter_step):
        raise NotImplementedError

    def timed(self, num_queries, k, filter_step):
        """Milliseconds of one search, and its ids."""
        start = time.perf_counter()
        ids = self.search(num_queries, k, filter_step)
        return (time.perf_counter() - start) * 1e3, ids

    def close(self):
        pass


class Faiss(Contender):
    name = "faiss"

    def __init__(self, rows, queries, threads):
        import faiss

        faiss.omp_set_num_threads(threads)
        self.faiss, self.queries, self.num_rows = faiss, queries, len(rows)
        self.index = faiss.IndexFlatIP(rows.shape[1])
        self.index.add(np.ascontiguousarray(rows))

    def can(self, num_queries, k, filter_step):
        return True

    def search(self, num_queries, k, filter_step):
        params = None
        if filter_step > 1:
            selector = self.faiss.IDSelectorBatch(np.arange(0, self.num_rows, filter_step))
            params = self.faiss.SearchParameters(sel=selector)
        return self.index.search(self.queries[:num_queries], k, params=params)[1]


class Usearch(Contender):
    name = "usearch"

    def __init__(self, rows, queries, threads):
        from usearch.index import MetricKind, search

        self.search_exactly = lambda part, k: search(rows, part, k, MetricKind.IP, exact=True, threads=threads)
        self.queries = queries

    def can(self, num_queries, k, filter_step):
        return filter_step == 1 and num_queries <= 64

    def search(self, num_queries, k, filter_step):
        return np.atleast_2d(self.search_exactly(self.queries[:num_queries], k).keys)


class Numpy(Contender):
    name = "numpy"

    def __init__(self, rows, queries, threads):
        self.rows, self.queries = rows, queries

    def can(self, num_queries, k, filter_step):
        return filter_step == 1 and num_queries <= 64

    def search(self, num_queries, k, filter_step):
        scores = self.queries[:num_queries] @ self.rows.T
        best = np.argpartition(-scores, k, axis=1)[:, :k]
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1)
        return np.take_along_axis(best, order, axis=1)


class Hnswlib(Contender):
    """The brute-force index of hnswlib, which searches on one thread per query."""

    name = "hnswlib"

    def __init__(self, rows, queries, threads):
        import hnswlib

        self.index = hnswlib.BFIndex(space="ip", dim=rows.shape[1])
        self.index.init_index(max_elements=len(rows))
        self.index.add_items(rows)
        self.index.set_num_threads(threads)
        self.queries = queries

    def can(self, num_queries, k, filter_step):
        return filter_step == 1 and num_queries <= 8 and k <= 10

    def search(self, num_queries, k, filter_step):
        return self.index.knn_query(self.queries[:num_queries], k=k)[0]


class SqliteVec(Contender):
    """A virtual table of sqlite-vec: one query at a time, on one thread, by cosine distance."""

    name = "sqlite_vec"

    def __init__(self, rows, queries, threads):
        # Many a Python's own SQLite loads no extensions; this one brings its own.
        import apsw
        import sqlite_vec

        self.database = apsw.Connection(":memory:")
        self.database.enable_load_extension(True)
        self.database.load_extension(sqlite_vec.loadable_path())
        dims = rows.shape[1]
        self.database.execute(f"create virtual table v using vec0(e float[{dims}] distance_metric=cosine)")
        with self.database:
            self.database.executemany("insert into v(rowid, e) values (?, ?)", ((i, row.tobytes()) for i, row in enumerate(rows)))
        self.queries = queries

    def can(self, num_queries, k, filter_step):
        return filter_step == 1 and num_queries == 1 and k <= 10

    def search(self, num_queries, k, filter_step):
        command = "select rowid from v where e match ? and k = ? order by distance"
        return np.array([[row[0] for row in self.database.execute(command, (self.queries[0].tobytes(), k))]])


class Process(Contender):
    """A binary that talks as `benches/serve.rs` says."""

    def __init__(self, command, folder):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([str(word) for word in command], stdin=pipe, stdout=pipe, text=True)
        self.about = json.loads(self.process.stdout.readline())
        self.ids_file = Path(folder) / f"ids-{self.process.pid}"

    def timed(self, num_queries, k, filter_step, precision="f32"):
        print(precision, num_queries, k, filter_step, self.ids_file, file=self.process.stdin, flush=True)
        self.last = json.loads(self.process.stdout.readline())
        return self.last["ms"], np.fromfile(self.ids_file, dtype="<u8").reshape(num_queries, k)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.ids_file.unlink(missing_ok=True)


class Ours(Process):
    name = "ours"

    def can(self, num_queries, k, filter_step):
        return True


class Ndarray(Process):
    name = "ndarray"


PYTHON_PEERS = {peer.name: peer for peer in (Faiss, Usearch, Numpy, Hnswlib, SqliteVec)}
