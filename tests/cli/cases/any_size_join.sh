# A trace joined with ranges that stay in their file: 163 MB of them in 130 MB of address space. Sanitizers need more for
# themselves: the case is skipped with them.
limit=130000
{ (ulimit -v $limit; metric-eval --version >/dev/null); } 2>/dev/null || { echo "skipped: no program of so little memory"; exit 77; }
repeat_ranges "$SOURCE/data/captures/gemm.cwd" 30000 60 ranges.cwd
trace_of_ranges ranges.cwd 1 0.9 trace.cwd
small() { (ulimit -v $limit; metric-eval join trace.cwd ranges.cwd "$@" 2>&1); }
few=sm__inst_executed.sum,gpu__time_duration.sum
small --top 2 -q
small --by device -m $few --csv - | head -n 3
small --by launch -m $few --csv - | tail -n 2 | cut -d, -f 1,2,11-
small -q -m $few -o joined.h5 >/dev/null
h5dump -d /range/value -s 29999,0 -c 1,2 joined.h5 | grep '(29999'
echo "== damage in the middle costs its range"
printf damage | dd of=ranges.cwd bs=1 seek=80000000 conv=notrunc status=none
small --top 1
