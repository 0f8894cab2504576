#!/bin/sh
# On the machine that builds: `sh benches/device/run.sh pack FOLDER` puts the binary and the scripts into FOLDER.
# On the machine with the CUDA card, without Rust: `sh FOLDER/run.sh [ROWS DIMS]` measures and writes FOLDER/record.json.
# There it needs a Vulkan loader with the card's driver, Python 3 with numpy and torch; FAISS-GPU is used if it is there.
set -eu
here="$(cd "$(dirname "$0")" && pwd)"
if [ "${1:-}" = pack ]; then
    root="$here/../.."
    cd "$root"
    cargo build -p benches --bin peers-ours
    mkdir -p "$2"
    cp "${CARGO_TARGET_DIR:-target}/debug/peers-ours" benches/device/run.sh benches/device/measure.py \
        benches/peers/contenders.py "$2"
    exit
fi
exec python3 "$here/measure.py" --bin "$here/peers-ours" --rows "${1:-1000000}" --dims "${2:-384}" --record "$here/record.json"
