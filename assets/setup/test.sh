#!/bin/sh
# `make test`: the set-up of `make run`, the models of the tests, then every test of the workspace.
set -eu
. "$(dirname "$0")/steps.sh"

step 'Looking for system packages'
sh assets/setup/packages.sh test
build_outcrop
step 'Fetching native libraries, models and test models'
"$outcrop" models fetch --tests
OUTCROP_MODELS=${OUTCROP_MODELS:-$(outcrop_home)/models}
OUTCROP_GPU=${OUTCROP_GPU:-software}
OUTCROP_WORKER=$outcrop
export OUTCROP_MODELS OUTCROP_GPU OUTCROP_WORKER

# Document tests first: the closing lines of the run are those of the suites.
step 'Testing the examples in the documentation'
cargo test --workspace --doc
step "Testing the workspace (GPU: $OUTCROP_GPU)"
if cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --workspace
else
    cargo test --workspace --lib --bins --tests
fi
step 'All tests passed'
