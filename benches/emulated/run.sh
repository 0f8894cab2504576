#!/bin/sh
# Runs the engine's tests on instruction sets that this machine does not have: `sh benches/emulated/run.sh neon|avx512`.
# It proves that the kernels chosen there give the oracle's answers. It says nothing about their speed.
#
# neon    under QEMU's user emulation. Needs the Rust target aarch64-unknown-linux-gnu, and on Debian
#         `apt-get install qemu-user gcc-aarch64-linux-gnu`.
# avx512  on a Debian kernel in Bochs, since QEMU emulates no AVX-512: on a CPU with VNNI and, beside it, on one without.
#         Needs `apt-get install bochs isolinux xorriso busybox-static cpio` and half an hour of two cores. The
#         kernel comes through apt, unless KERNEL names one (a vmlinuz). CPUS, FILTERS and PROPTEST_CASES choose CPU
#         models, tests of the suite, and how many random files are searched.
set -eu
root="$(cd "$(dirname "$0")/../.." && pwd)"
target="${CARGO_TARGET_DIR:-$root/target}"
work="$target/emulated-${1:-}"
mkdir -p "$work"

# The suite of `tests/engine` without its GPU tests, as a package that needs the engine alone. The data lies beside it as
# it lies beside `tests`.
make_suite() {
    rm -rf "$work/suite" "$work/tests"
    mkdir -p "$work/suite" "$work/tests"
    cp "$root/tests/engine/"*.rs "$work/suite/"
    cp -r "$root/tests/data" "$work/tests/data"
    cp "$root/Cargo.lock" "$work/suite/"
    sed -i '/^mod gpu/d' "$work/suite/main.rs"
    {
        cat <<EOF
[package]
name = "suite"
version = "0.1.0"
edition = "2024"
[workspace]
[dependencies]
engine = { path = "$root/engine", default-features = false }
EOF
        sed -n '/^\(proptest\|tempfile\) = /p' "$root/Cargo.toml"
        printf '[[test]]\nname = "suite"\npath = "main.rs"\n'
        sed -n '/^\[profile\.dev/,/^\[profile\.release/p' "$root/Cargo.toml" | sed '$d'
    } >"$work/suite/Cargo.toml"
}

run_neon() {
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=qemu-aarch64
    export QEMU_LD_PREFIX=/usr/aarch64-linux-gnu
    export ENGINE_KERNELS="neon scalar"
    cd "$root"
    cargo test -p engine --no-default-features --target aarch64-unknown-linux-gnu
    cd "$work/suite"
    # The test that kills a process starts one of its own: that needs the system to know the emulator.
    skipped=
    [ -f /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || skipped="--skip kill::no_torn_read"
    # shellcheck disable=SC2086
    OUTCROP_FUZZ_SECONDS=30 CARGO_TARGET_DIR="$target" cargo test --target aarch64-unknown-linux-gnu -- $skipped
}

# Builds the tests of a package and prints the path of the one program among them that has `$1` in its name.
test_program() {
    name="$1"
    shift
    cargo test "$@" --no-run --message-format=json-render-diagnostics |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | grep "/deps/$name-" | tail -n 1
}

# A folder that becomes the root of the emulated machine: the test programs, the libraries they ask for, the data.
make_root() {
    rm -rf "$work/root"
    mkdir -p "$work/root/bin" "$work/root/proc" "$work/root/dev" "$work/root/tmp" "$work/root/sys"
    cp "$(command -v busybox)" "$work/root/bin/busybox"
    cd "$root"
    cp "$(test_program engine -p engine --no-default-features --lib)" "$work/root/bin/unit"
    cd "$work/suite"
    cp "$(CARGO_TARGET_DIR="$target" test_program suite --test suite)" "$work/root/bin/suite"
    strip "$work/root/bin/unit" "$work/root/bin/suite"
    for library in $(ldd "$work/root/bin/suite" "$work/root/bin/unit" | grep -o '/[^ ]*\.so[^ ]*' | sort -u); do
        mkdir -p "$work/root$(dirname "$library")"
        cp -L "$library" "$work/root$library"
    done
    mkdir -p "$work/root$work/tests"
    cp -r "$work/tests/data" "$work/root$work/tests/data"
    cp "$root/benches/emulated/init.sh" "$work/root/init"
    chmod +x "$work/root/init"
}

fetch_kernel() {
    if [ -n "${KERNEL:-}" ]; then
        cp "$KERNEL" "$work/vmlinuz"
    elif [ ! -f "$work/vmlinuz" ]; then
        rm -rf "$work/kernel"
        mkdir -p "$work/kernel"
        cd "$work/kernel"
        apt-get download "$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/ *Depends: //p' | head -n 1)"
        dpkg-deb -x ./*.deb .
        cp boot/vmlinuz-* "$work/vmlinuz"
    fi
}

# Boots a machine with the CPU model `$1`, which must have the kernels `$2`, and prints what it says. Bochs 2.7 gives the
# sizes of saved registers wrongly where they are packed, and the kernel crashes on some other features: without them.
boot() {
    machine="$work/$1"
    rm -rf "$machine"
    mkdir -p "$machine/disc"
    disc="$machine/disc"
    cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$work/vmlinuz" "$disc"
    cp -r "$work/root" "$machine/root"
    printf 'ENGINE_KERNELS="%s"\nFILTERS="%s"\nPROPTEST_CASES="%s"\n' "$2" "$FILTERS" "${PROPTEST_CASES:-25}" \
        >"$machine/root/settings"
    (cd "$machine/root" && find . | cpio -o -H newc --quiet | gzip -1) >"$disc/initrd.gz"
    options="mitigations=off nokaslr tsc=reliable lsm=capability nofsgsbase nopcid pti=off"
    hidden=pku,aperfmperf,xsaves,xsavec,rdpid,fsgsbase,pcid,invpcid,smap,smep,umip,fsrm
    cat >"$disc/isolinux.cfg" <<EOF
default tests
label tests
    kernel /vmlinuz
    append initrd=/initrd.gz console=ttyS0 quiet $options clearcpuid=$hidden
EOF
    xorriso -as mkisofs -quiet -o "$machine/boot.iso" -b isolinux.bin -c boot.cat -no-emul-boot -boot-load-size 4 \
        -boot-info-table "$disc"
    cat >"$machine/bochsrc" <<EOF
config_interface: textconfig
display_library: rfb, options="timeout=0"
memory: guest=768, host=768
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
cpu: model=$1, count=1, ips=50000000
ata0: enabled=1
ata0-master: type=cdrom, path="$machine/boot.iso", status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev="$machine/serial.txt"
log: /dev/null
clock: sync=none
sound: driver=dummy
speaker: enabled=0
EOF
    # Debian's build has the debugger, which waits for the word to go on.
    echo c >"$machine/go"
    bochs -q -f "$machine/bochsrc" -rc "$machine/go" >"$machine/bochs.txt" 2>&1 </dev/null || true
}

run_avx512() {
    fetch_kernel
    make_root
    cpus="${CPUS:-corei7_icelake_u corei7_skylake_x}"
    for cpu in $cpus; do
        case "$cpu" in
        corei7_skylake_x) boot "$cpu" "avx512 avx2 scalar" & ;;
        *) boot "$cpu" "avx512-vnni avx512 avx2 scalar" & ;;
        esac
    done
    wait
    for cpu in $cpus; do
        echo "== $cpu"
        grep -v '^\[' "$work/$cpu/serial.txt"
    done
    for cpu in $cpus; do
        grep -q '^all passed' "$work/$cpu/serial.txt"
    done
}

# What searches; but for batches of a thousand queries and damaged codes, which take an emulator an hour.
FILTERS="${FILTERS:-equality::c certified::codes_do certified::rows known_shapes::}"
make_suite
case "${1:-}" in
neon) run_neon ;;
avx512) run_avx512 ;;
*)
    echo "usage: $0 neon|avx512" >&2
    exit 2
    ;;
esac
