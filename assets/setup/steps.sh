# Sourced by run.sh and test.sh: progress lines with times, and the one build that both share.

cd "$(dirname "$0")/../.." || exit 1
started=$(date +%s)

# Mesa's Vulkan layer that orders devices asks a Wayland server for its own, and complains where there can be none.
if [ -z "${XDG_RUNTIME_DIR:-}" ]; then
    NODEVICE_SELECT=1
    export NODEVICE_SELECT
fi

# One line for each step, with the seconds since the start.
step() {
    printf '[%4d s] %s\n' "$(($(date +%s) - started))" "$*"
}

# Ends the script with a reason.
fail() {
    printf 'outcrop: %s\n' "$*" >&2
    exit 1
}

# Outcrop's home: the folder the program itself uses, made absolute because tests run in other folders.
outcrop_home() {
    case $(uname -s) in
        Darwin) data="$HOME/Library/Application Support" ;;
        *) data=${XDG_DATA_HOME:-$HOME/.local/share} ;;
    esac
    home=${OUTCROP_HOME:-$data/outcrop}
    mkdir -p "$home" && cd "$home" && pwd
}

# Builds the `outcrop` program and sets $outcrop to its path.
build_outcrop() {
    command -v cargo >/dev/null 2>&1 || fail 'Rust is missing: install it from https://rustup.rs, then run this again'
    step "Building outcrop (the first time takes several minutes)"
    cargo build -p app || fail 'the build failed: see above'
    target=$(cargo metadata --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
    outcrop=$target/debug/outcrop
    [ -x "$outcrop" ] || fail "the build left no program where it was expected: $outcrop"
}
