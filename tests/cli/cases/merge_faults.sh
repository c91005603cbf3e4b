# What goes wrong in the middle of merging: inputs stay, the output is the old one, whole, or absent, and the next run
# works.
make_ranks "$SOURCE/data/captures/gpus.cwd" 40 . 10 && mkdir ranks && mv run.*.cwd ranks
sum() { cat ranks/*.cwd | sha256sum; }
before=$(sum)
check() {
    [ "$(sum)" = "$before" ] && echo the inputs are there || echo the inputs changed
    if [ -e all.cwd ]; then metric-eval show all.cwd | grep -E '^(ranges|end)'; else echo no output; fi
    rm -f all.cwd.??????
}
# inject KIND:BYTES:PART command...
inject() {
    local faults=$1
    shift
    ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 LD_PRELOAD="$(dirname "$(command -v make_ranks)")/../tests/io_faults.so" IO_FAULTS=$faults "$@"
}
merge() { { inject "$1" metric-eval merge ranks -o all.cwd; } 2>/dev/null; echo "status $?"; }
for bytes in 0 1000 10000; do
    for kind in full gone kill; do
        echo "== $kind after $bytes bytes of the output"; merge $kind:$bytes:all.cwd; check
    done
done
for kind in gone kill; do
    echo "== $kind in an input"; merge $kind:100000:ranks/; check
done
echo == the next run
metric-eval merge ranks -o all.cwd; check; cp all.cwd good.cwd
echo == an earlier output stays
for kind in full gone kill; do merge $kind:10000:all.cwd; check; cmp all.cwd good.cwd; done
echo == the message
inject full:10000:all.cwd metric-eval merge ranks -o all.cwd; inject gone:100000:ranks/ metric-eval merge ranks -o all.cwd
rm all.cwd; (ulimit -f 10; trap '' XFSZ; metric-eval merge ranks -o all.cwd; echo "status $?"); check
