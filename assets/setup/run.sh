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
    question=$(head -n 1 assets/questions.txt)
    step "No display, so the question is asked here: $question"
    "$outcrop" --library samples ask "$question"
    step 'Drawing the screens off-screen'
    "$outcrop" --library samples screenshots "$screens" --question "$question"
    step "Done. Screens: $screens. With a display, \`make run\` opens the window."
}

step 'Looking for system packages'
sh assets/setup/packages.sh run
build_outcrop
step 'Fetching native libraries and models (560 MB the first time)'
"$outcrop" models fetch
step 'Ingesting the sample documents'
# Exit status 3: some files failed, each named with its reason. The others are there, so go on.
"$outcrop" --library samples ingest assets/samples || [ $? -eq 3 ]
if has_display; then
    step 'Opening the window'
    exec "$outcrop" --library samples
fi
run_in_terminal
