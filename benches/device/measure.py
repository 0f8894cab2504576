"""The engine on a CUDA machine's GPU (through Vulkan) beside torch and, if it is there, FAISS-GPU.

Called by `run.sh`. Correctness first: the ids found on the GPU must be those found on the CPU, or nothing is timed.
Then medians per batch, the share of the card's bandwidth (one query) and of its f32 arithmetic (batches), both as
torch reaches them on the same card, and the ratio to `torch.topk(q @ x.T)`.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

from contenders import Ours

BATCHES = (1, 8, 64, 512)
K = 10
REPEATS = 15


def unit_vectors(seed, count, dims):
    vectors = np.random.default_rng(seed).standard_normal((count, dims), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def median_ms(run):
    times = []
    for _ in range(REPEATS + 2):
        torch.cuda.synchronize()
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times[2:])


def card_peaks():
    """Bytes per second of a sum over 4 GiB, and f32 operations per second of a large product without TF32."""
    values = torch.ones(1 << 30, device="cuda")
    bandwidth = values.numel() * 4 / median_ms(values.sum) * 1e3
    del values
    side = 8192
    square = torch.ones(side, side, device="cuda")
    flops = 2 * side**3 / median_ms(lambda: square @ square) * 1e3
    return bandwidth, flops


def start_ours(arguments, folder, gpu):
    os.environ["OUTCROP_GPU"] = "auto" if gpu else "off"
    return Ours([arguments.bin, "serve", folder / "rows.vec", folder / "queries.npy"], folder)


def check(on_gpu, on_cpu):
    for batch in BATCHES:
        for precision in ("f32", "certified"):
            found = on_gpu.timed(batch, K, 1, precision)[1]
            if on_gpu.last["backend"] != "gpu":
                sys.exit(f"{batch} queries ran on the {on_gpu.last['backend']}: {on_gpu.about}")
            if not (found == on_cpu.timed(batch, K, 1, precision)[1]).all():
                sys.exit(f"{batch} queries, {precision}: the GPU's ids are not the CPU's")


def peers(rows, queries):
    """Other ways to the same ids: name and search."""
    on_card = torch.from_numpy(rows).cuda()
    queries_on_card = torch.from_numpy(queries).cuda()
    found = {"torch": lambda batch: torch.topk(queries_on_card[:batch] @ on_card.T, K).indices.cpu()}
    try:
        import faiss

        index = faiss.GpuIndexFlatIP(faiss.StandardGpuResources(), rows.shape[1])
        index.add(rows)
        found["faiss_gpu"] = lambda batch: index.search(queries[:batch], K)
    except (ImportError, AttributeError):
        print("without FAISS-GPU: it is not installed")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--dims", type=int, default=384)
    parser.add_argument("--record", required=True, type=Path)
    arguments = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    rows, queries = unit_vectors(1, arguments.rows, arguments.dims), unit_vectors(2, max(BATCHES), arguments.dims)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        np.save(folder / "rows.npy", rows)
        np.save(folder / "queries.npy", queries)
        import subprocess

        subprocess.run([arguments.bin, "import", folder / "rows.npy", folder / "rows.vec"], check=True)
        on_gpu, on_cpu = start_ours(arguments, folder, gpu=True), start_ours(arguments, folder, gpu=False)
        check(on_gpu, on_cpu)
        on_cpu.close()
        bandwidth, flops = card_peaks()
        others = peers(rows, queries)
        table = []
        for batch in BATCHES:
            peer_ms = {f"{name}_ms": round(median_ms(lambda: search(batch)), 4) for name, search in others.items()}
            for precision in ("f32", "certified"):
                ours = statistics.median(on_gpu.timed(batch, K, 1, precision)[0] for _ in range(REPEATS))
                bytes_per_row = arguments.dims * (4 if precision == "f32" else 1)
                table.append(
                    {"precision": precision, "rows": arguments.rows, "dims": arguments.dims, "queries": batch, "k": K}
                    | {"ours_ms": ours}
                    | peer_ms
                    | {"ratio_to_torch": round(peer_ms["torch_ms"] / ours, 3)}
                    | {"bandwidth_fraction": round(arguments.rows * bytes_per_row / ours * 1e3 / bandwidth, 3)}
                    | {"flop_fraction": round(2 * arguments.rows * arguments.dims * batch / ours * 1e3 / flops, 3)}
                )
                print(table[-1], flush=True)
        machine = {
            "gpu": torch.cuda.get_device_name(),
            "ours": on_gpu.last["adapter"],
            "gb_per_s": round(bandwidth / 1e9, 1),
            "f32_tflops": round(flops / 1e12, 2),
            "torch": torch.__version__,
        }
        on_gpu.close()
    arguments.record.write_text(json.dumps({"machine": machine, "rows": table}, indent=1) + "\n")


if __name__ == "__main__":
    main()
