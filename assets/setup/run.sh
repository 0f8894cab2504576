#!/bin/sh
# `make run`: system packages, build, models, sample documents, then the window, or the same job in the terminal
# where there is no display. Everything that is already done is skipped.
set -eu
. "$(dirname "$0")/steps.sh"

# Whether a window can be opened.
has_display() {
    [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] || [ "$(uname -s)" = Darwin ] || [ "${OS:-}" = Windows_NT ]
}

# Asks the first example question and draws every screen to a PNG.
run_in_terminal() {
    screens=$(outcrop_home)/screens
    step 'No display: asking the first example question here'
    "$outcrop" --library samples ask "$(head -n 1 assets/questions.txt)"
    step 'Drawing the screens off-screen'
    "$outcrop" --library samples screenshots "$screens"
    step "Done. Screens: $screens. With a display, \`make run\` opens the window."
}

step 'Looking for system packages'
sh assets/setup/packages.sh run
build_outcrop
step 'Fetching native libraries and models'
"$outcrop" models fetch
step 'Ingesting the sample documents'
"$outcrop" --library samples ingest assets/samples
if has_display; then
    step 'Opening the window'
    exec "$outcrop" --library samples
fi
run_in_terminal
