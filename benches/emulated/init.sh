#!/bin/busybox sh
# The first program of the emulated machine: runs the tests, says how they went, switches off.
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mkdir -p /dev/shm
/bin/busybox mount -t tmpfs shm /dev/shm
. /settings
export ENGINE_KERNELS PROPTEST_CASES
/bin/busybox grep -m 1 -o 'model name.*' /proc/cpuinfo
/bin/busybox grep -m 1 flags /proc/cpuinfo | /bin/busybox tr ' ' '\n' | /bin/busybox grep avx | /bin/busybox tr '\n' ' '
echo
has_failed=
/bin/unit --test-threads 1 || has_failed=1
for filter in $FILTERS; do
    /bin/suite --test-threads 1 "$filter" || has_failed=1
done
[ -n "$has_failed" ] && echo "some failed" || echo "all passed"
/bin/busybox sync
/bin/busybox poweroff -f
