#!/bin/sh
# Builds our side, installs the pinned peers in a virtual environment of their own, measures both sizes and the
# memory, and completes benches/records. About 25 minutes and 12 GB of memory; PEERS_ARGS goes to every run.
set -eu
cd "$(dirname "$0")/../.."
target="${CARGO_TARGET_DIR:-target}"
venv="${PEERS_VENV:-$target/peers-venv}"
data="${PEERS_DATA:-$target/peers-data}"
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
fi
# One by one: a peer that does not build here is left out of the table and named.
while read -r package; do
    "$venv/bin/pip" install --quiet "$package" || echo "without $package" >&2
done < benches/peers/requirements.txt
cargo build -p benches --bins
cargo build --release --manifest-path benches/peers/brute/Cargo.toml --target-dir "$target/peers-ndarray"
cp "$target/peers-ndarray/release/peers-ndarray" "$target/debug/"
measure() {
    # shellcheck disable=SC2086 # several arguments on purpose
    "$venv/bin/python" benches/peers/run.py --bin "$target/debug" --data "$data" --record benches/records "$@" ${PEERS_ARGS:-}
}
measure --rows 1000000 --dims 384
measure --rows 1000000 --dims 384 --memory
measure --rows 200000 --dims 768
if [ -n "${PEERS_VECTORS:-}" ]; then
    measure --vectors "$PEERS_VECTORS"
fi
