"""Peak memory of one library in a process of its own: after one query, then after 512.

    python memory.py PEER ROWS.npy QUERIES.npy

Prints `{"peer": …, "peak_rss_mib_1": …, "peak_rss_mib_512": …}`. `run.py --memory` calls it for each peer; ours and
the Rust brute force are asked directly.
"""

import json
import os
import sys

BATCHES = (1, 512)


def status_mib(pid, field):
    with open(f"/proc/{pid}/status") as lines:
        line = next(line for line in lines if line.startswith(field + ":"))
    return round(int(line.split()[1]) / 1024, 1)


def measure(contender, pid):
    """`VmHWM` counts mapped pages of files too, which are the system's to take back: `anon` leaves them out."""
    found = {"peer": contender.name}
    for batch in BATCHES:
        contender.timed(batch, 10, 1)
        found[f"peak_rss_mib_{batch}"] = status_mib(pid, "VmHWM")
        found[f"anon_mib_{batch}"] = status_mib(pid, "RssAnon")
    return found


def main():
    name, rows, queries = sys.argv[1:]
    for variable in ("OPENBLAS_CORETYPE",):
        os.environ.pop(variable, None)
    import numpy as np

    from contenders import PYTHON_PEERS

    contender = PYTHON_PEERS[name](np.load(rows), np.load(queries), os.cpu_count())
    print(json.dumps(measure(contender, os.getpid())))


if __name__ == "__main__":
    main()
