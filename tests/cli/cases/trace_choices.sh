# Which of a trace is wanted: each filter means the same in tables and files, and an option that would do nothing is told.
fail() { "$@" 2>&1 | sed "s|$SOURCE/||"; echo "status ${PIPESTATUS[0]}"; }
train=$SOURCE/data/captures/trace_train.cwd
rows() { python3 -c '
import json, sys
print(*(f"{kind} {len(rows)}" for kind, rows in json.load(sys.stdin).items() if kind != "capture"), sep=", ")'; }
echo == a range has what lies in it
metric-eval "$train" --by nvtx --range 'step 3' -q
metric-eval "$train" --range 'step 3' --by call -q
echo == in files, too
metric-eval "$train" --range 'step 3' --json step.json 2>&1 >/dev/null | sed "s|$SOURCE/||"; rows <step.json
for kind in runtime nvtx_range synchronization; do echo $kind $(metric-eval "$train" --range 'step 3' --csv - --kind $kind | wc -l); done
make_trace made.cwd launches=200
for range in step forward; do metric-eval made.cwd --range $range --json - -q | rows; done
echo == a kernel, and the calls that launched it
metric-eval "$train" --kernel fmha --by call -q
metric-eval "$train" --kernel fmha --json fmha.json 2>&1 >/dev/null | sed "s|$SOURCE/||"; rows <fmha.json
metric-eval "$train" --exclude at::native --json - -q | rows
echo == none of a kind
metric-eval "$train" --kernel fmha --csv - --kind copy
metric-eval "$train" --kernel fmha -o fmha.h5 --kind copy,kernel -q >/dev/null && h5dump -d /timeline/copy/bytes fmha.h5 | grep -m1 DATASPACE
echo == ranks
capture-agent trace -q --backend sim -o 'rank-%r.cwd' -- true
metric-eval rank-*.cwd --rank 1 --by rank -q
metric-eval rank-*.cwd --rank 1 | head -4
for rank in 0 1 0,1; do metric-eval rank-*.cwd --rank $rank --csv - --kind kernel | tail -n +2 | cut -d, -f3 | sort | uniq -c; done
fail metric-eval rank-*.cwd --rank 7 --by rank
echo == columns
metric-eval "$train" --by nvtx --filter 'ranges > 7' -q
metric-eval "$train" --by nvtx-each --sort self --top 2 -q
metric-eval "$train" --by call --sort failed --top 1 -q
echo == what does nothing
for option in '--kind kernels --json -' '--csv - --kind kernel,copy' '--csv - --kind memory --range step.3' '--kind kernel' \
    '--by nvtx --csv - --kind kernel' '--sort wall' '--by copy --sort median' '--by call --filter bytes>1' '--frame-ns 3' \
    '--region-ns 3' '--chip-file x' '--metrics-db x' '--source-path x'; do
    fail metric-eval "$train" $option
done
fail metric-eval "$train" --kind '' --csv -
echo == a kind of which the trace has no row
metric-eval "$train" -q --csv - --kind openacc; echo "status $?"
metric-eval "$train" -q --json - --kind openacc,memory_pool | tail -n +2; echo "status $?"
metric-eval "$train" -q -o none.h5 --kind openacc >/dev/null; echo "status $?"; h5dump -d /timeline/openacc/start_ns none.h5 | grep -c 'SIMPLE { ( 0 )'
