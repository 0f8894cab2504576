# Outcrop's commands. `make run` and `make test` need nothing but Rust: they install the rest themselves.
# CARGO_TARGET_DIR, OUTCROP_HOME and OUTCROP_GPU are honoured where they are set.

.PHONY: help run test check bench peers setup
.DEFAULT_GOAL := help

help: ## list these commands
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 14

run: ## set up, fetch the models, ingest the samples, open the window (no display: the same in the terminal)
	@sh assets/setup/run.sh

test: ## set up, fetch the test models, run every test of the workspace on a software GPU
	@sh assets/setup/test.sh

check: ## formatting, lints, the build without a window, documentation: warnings are errors
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo check -p app --no-default-features
	RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps

bench: ## run the engine's benchmarks
	cargo bench -p benches

peers: ## measure the engine beside FAISS, usearch, numpy and others (installs them in a folder of its own)
	@sh benches/peers/run.sh

setup: ## install the system packages that are missing, and nothing else
	@sh assets/setup/packages.sh test
