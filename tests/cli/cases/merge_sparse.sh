# What ranks have in common stands once in a merged file, and every value is the one of the parts.
d=$SOURCE/data/captures
mkdir job some more same
make_ranks "$d/transformer.cwd" 24 job 60; cp job/run.?.cwd some; cp job/run.1?.cwd job/run.2?.cwd more
percent() { echo $((100 * $(stat -c %s "$1") / $(cat "$2"/*.cwd | wc -c))); }
metric-eval merge job -o job.cwd; [ "$(percent job.cwd job)" -lt 15 ] && echo it is sparse
values() { metric-eval "$1" -q --tidy --csv - | cut -d, -f 2-; }
cmp <(values job) <(values job.cwd) && values job.cwd | wc -l
metric-eval job -q -o parts.h5 >/dev/null; metric-eval job.cwd -q -o whole.h5 >/dev/null
h5diff parts.h5 whole.h5 /range && h5diff parts.h5 whole.h5 /capture/duration_ns && echo the same HDF5
cmp <(metric-eval job --rank 7 --csv - | cut -d, -f 2-) <(metric-eval job.cwd --rank 7 --csv - | cut -d, -f 2-) && echo the same rank
metric-eval job.cwd --rank 99; metric-eval job.cwd --rank 7 --range '#430' --csv - | cut -d, -f 1,2 | sed -n 2p
cmp <(metric-eval ranks job --json - | grep -v '"source"') <(metric-eval ranks job.cwd --json - | grep -v '"source"') && echo the same ranks
echo == merged by halves
metric-eval merge some -o a.cwd; metric-eval merge more -o b.cwd; metric-eval merge a.cwd b.cwd -o ab.cwd
metric-eval merge job/run.?.cwd job/run.1?.cwd job/run.2?.cwd -o all.cwd; cmp ab.cwd all.cwd && echo the same bytes
echo == ranks that are all alike
for i in $(seq 120); do cp "$d/runs_1.cwd" same/run.$i.cwd; done
metric-eval merge same -o same.cwd; percent same.cwd same; cmp <(values same | head -5000) <(values same.cwd | head -5000) && echo the same values
echo == runs that differ as runs do
metric-eval merge "$d"/runs_?.cwd -o runs.cwd; cmp <(values runs.cwd) <(metric-eval "$d"/runs_?.cwd -q --tidy --csv - | cut -d, -f 2-) && echo the same values
echo == a drive that is cut off in the middle
ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 LD_PRELOAD="$(dirname "$(command -v make_ranks)")/../tests/io_faults.so" \
    IO_FAULTS=gone:100000:job.cwd metric-eval job.cwd -o x.h5 2>&1 >/dev/null | grep -v '^metric-eval: using'; ls x.h5* 2>/dev/null
