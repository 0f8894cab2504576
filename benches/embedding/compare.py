"""Embedding throughput beside Python, on the same model, files and threads.

    python compare.py OUTCROP MODEL_FOLDER FILE... [--threads 2] [--rounds 3]

Outcrop ingests the files into a new library each round: reading, chunking, embedding, keyword index and vectors on disk
are all in its time. The peers get the chunks' texts as a list and embed them: onnxruntime in batches of 32 in the
order of the text, the same sorted by length, and fastembed on the same files. Contenders take turns; medians, in texts a
second. Needs onnxruntime, tokenizers, numpy and fastembed.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

import numpy as np
import onnxruntime as ort
from tokenizers import Tokenizer

BATCH = 32


def chunks(args):
    texts = []
    for file in args.files:
        out = subprocess.run(
            [args.outcrop, "chunk", file, "--json", *CHUNKER], check=True, capture_output=True, text=True
        )
        texts += [chunk["text"] for chunk in json.loads(out.stdout)]
    return texts


CHUNKER = ["--chunker", "recursive", "--size", "400", "--overlap", "0"]


def ingest(args):
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "OUTCROP_HOME": home, "OUTCROP_MODELS": os.path.dirname(args.model.rstrip("/"))}
        begun = time.perf_counter()
        out = subprocess.run(
            [args.outcrop, "ingest", *args.files, "--json", *CHUNKER], check=True, capture_output=True, text=True, env=env
        )
        took = time.perf_counter() - begun
    return took, json.loads(out.stdout)


class Plain:
    """onnxruntime as its documentation uses it: mean pooling, unit length."""

    def __init__(self, args):
        options = ort.SessionOptions()
        options.intra_op_num_threads = args.threads
        self.session = ort.InferenceSession(os.path.join(args.model, "model.onnx"), options)
        self.inputs = {given.name for given in self.session.get_inputs()}
        self.tokenizer = Tokenizer.from_file(os.path.join(args.model, "tokenizer.json"))
        self.tokenizer.enable_truncation(256)
        self.tokenizer.enable_padding()

    def embed(self, texts):
        rows = []
        for start in range(0, len(texts), BATCH):
            encoded = self.tokenizer.encode_batch(texts[start : start + BATCH])
            ids = np.array([one.ids for one in encoded], dtype=np.int64)
            mask = np.array([one.attention_mask for one in encoded], dtype=np.int64)
            feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            hidden = self.session.run(None, {name: feed[name] for name in self.inputs})[0]
            pooled = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
            rows.append(pooled / np.linalg.norm(pooled, axis=1, keepdims=True))
        return np.concatenate(rows)


def fast(args):
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    TextEmbedding.add_custom_model(
        model="local/minilm-int8", pooling=PoolingType.MEAN, normalization=True, sources=ModelSource(url="file:///none"),
        dim=384, model_file="model.onnx",
    )
    # It wants three more files beside the model, which say what the tokenizer's own file says too.
    folder = tempfile.mkdtemp()
    for name in ("model.onnx", "tokenizer.json"):
        os.symlink(os.path.abspath(os.path.join(args.model, name)), os.path.join(folder, name))
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
    contents = {
        "config.json": {"pad_token_id": 0},
        "tokenizer_config.json": {**special, "model_max_length": 256},
        "special_tokens_map.json": special,
    }
    for name, content in contents.items():
        with open(os.path.join(folder, name), "w") as file:
            json.dump(content, file)
    return TextEmbedding("local/minilm-int8", specific_model_path=folder, threads=args.threads)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("outcrop")
    parser.add_argument("model")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    texts = chunks(args)
    plain = Plain(args)
    by_length = sorted(texts, key=len)
    contenders = {
        "outcrop, files to searchable library": lambda: ingest(args)[0],
        f"onnxruntime {ort.__version__}, batches of {BATCH} as they come": lambda: timed(lambda: plain.embed(texts)),
        f"onnxruntime {ort.__version__}, batches of {BATCH} sorted by length": lambda: timed(lambda: plain.embed(by_length)),
    }
    try:
        import fastembed

        model = fast(args)
        contenders[f"fastembed {fastembed.__version__}"] = lambda: timed(lambda: list(model.embed(texts, batch_size=BATCH)))
    except Exception as err:  # A peer that does not load the local files is named, not left out in silence.
        print(f"fastembed does not load the local files: {type(err).__name__}: {err}")
    times = {name: [] for name in contenders}
    for _ in range(args.rounds):
        for name, run in contenders.items():
            times[name].append(run())
    rates = {name: len(texts) / statistics.median(taken) for name, taken in times.items()}
    print(json.dumps({"texts": len(texts), "bytes": sum(len(text.encode()) for text in texts), "threads": args.threads,
                      "texts_per_second": {name: round(rate, 1) for name, rate in rates.items()}}, indent=1))


def timed(run):
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
