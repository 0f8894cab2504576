#!/bin/sh
# Finds and installs the system packages that Outcrop needs. Usage: packages.sh run|test
#
# Debian and Ubuntu: installs what is missing (as root, else through sudo, else it prints the command to run).
# Elsewhere: says what is missing. Quick and silent when everything is there.
set -eu

purpose=${1:-run}
missing=

# Notes that the Debian package $1 is missing.
need() {
    missing="$missing $1"
}

has_command() {
    command -v "$1" >/dev/null 2>&1
}

# Whether dpkg has the package $1 installed.
has_package() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# libclang with its headers, which the build of llama.cpp's bindings reads.
has_libclang() {
    [ -n "${LIBCLANG_PATH:-}" ] && return 0
    for library in /usr/lib/llvm-*/lib/libclang.so /usr/lib64/libclang.so /usr/lib/libclang.so; do
        [ -e "$library" ] && return 0
    done
    return 1
}

# What the build calls, by command: it may have come from anywhere.
find_build_tools() {
    has_command c++ || need g++
    has_command cmake || need cmake
    has_command pkg-config || need pkg-config
    has_libclang || need libclang-dev
    python3 -c 'import pip' 2>/dev/null || need 'python3 python3-pip'
}

# What the program loads at run time: Vulkan with its software adapter, the window system, a font with CJK.
find_libraries() {
    for package in libvulkan1 mesa-vulkan-drivers \
        libx11-6 libx11-xcb1 libxcb1 libxcursor1 libxi6 libxrandr2 libxkbcommon-x11-0 libwayland-client0 \
        fonts-droid-fallback; do
        has_package "$package" || need "$package"
    done
    if [ "$purpose" = test ]; then
        has_command Xvfb || need xvfb
    fi
}

# Runs apt-get as root: directly, through sudo, or not at all.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif has_command sudo && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
        sudo "$@"
    else
        return 77
    fi
}

# Says what to do when the packages could not be installed: no root here, or apt-get failed above.
explain_apt() {
    echo "outcrop: these system packages are missing and could not be installed:$missing" >&2
    echo 'outcrop: run this as root, then try again:' >&2
    echo "    apt-get update && apt-get install -y --no-install-recommends$missing" >&2
    exit 1
}

install_debian() {
    echo "installing system packages:$missing"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 update || explain_apt
    # shellcheck disable=SC2086 # one word for each package
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 \
        install -y --no-install-recommends $missing >/dev/null || explain_apt
}

# Other systems: only what the build calls can be looked for.
explain_other() {
    echo "outcrop: missing:$missing (Debian's names)" >&2
    case $(uname -s) in
        Darwin) echo 'outcrop: run `xcode-select --install` and `brew install cmake python`, then try again' >&2 ;;
        *) echo 'outcrop: install a C++ compiler, cmake, pkg-config, libclang and python3 with pip, and to open the' \
            'window a Vulkan driver and the X11 or Wayland client libraries, then try again' >&2 ;;
    esac
    exit 1
}

find_build_tools
if has_command dpkg-query && has_command apt-get; then
    find_libraries
    [ -z "$missing" ] || install_debian
elif [ "$(uname -s)" = Darwin ]; then
    # Xcode's compiler brings its own libclang, and nothing here asks for pkg-config.
    missing=$(echo "$missing" | sed 's/ libclang-dev//; s/ pkg-config//')
    [ -z "$missing" ] || explain_other
else
    [ -z "$missing" ] || explain_other
fi
