# How the ranks of a job differ: for people, as CSV, JSON and HDF5. Rank 5 ran at a clock that was 12 % lower.
mkdir job; make_ranks "$SOURCE/data/captures/transformer.cwd" 8 job 40 5
COLUMNS=100 metric-eval ranks job --top 3 | sed 's/ *$//'
echo == by NVTX range, without a summary
metric-eval ranks job --by nvtx -q -m gpu__time_duration.sum
echo == in a terminal of 100 columns
script -qec "stty cols 100; metric-eval ranks job --top 2 -m gpu__time_duration.sum,lts__throughput.avg.pct_of_peak_sustained_elapsed" /dev/null |
    tr -d '\r' | sed 's/\x1b\[[0-9]*m//g; s/ *$//'
echo == some kernels, in other files and in several batches
metric-eval ranks job/run.[0-3].cwd job/run.[4-7].cwd --kernel layer_norm -m dram__bytes.sum | head -n 6
echo == JSON
metric-eval ranks job -m gpu__time_duration.sum,sm__cycles_elapsed.avg.per_second --json - | python3 -c '
import json, sys
d = json.load(sys.stdin)
print([m["name"] for m in d["metrics"]], len(d["values"]), len(d["kernels"]))
print([(r["rank"], r["host"], r["launches"], r["sm_mhz"]) for r in d["ranks"]])
k = d["kernels"][0]
print({name: k[name] for name in ("ranks", "launches", "time_greatest_rank", "time_outliers", "greatest_rank", "least_rank", "outliers")})
assert k["time_least_ns"] <= k["time_lower_quartile_ns"] <= k["time_median_ns"] <= k["time_upper_quartile_ns"] <= k["time_greatest_ns"]
values = [v["values"][0] for v in d["values"] if v["kernel_number"] == 0]
assert len(values) == 8 and max(values) == k["greatest"][0] and min(values) == k["least"][0], values
print(d["stragglers"][0]["text"])'
echo == CSV and HDF5
metric-eval ranks job -m gpu__time_duration.sum --csv ranks.csv -o ranks.h5 >/dev/null
head -n 2 ranks.csv | cut -d, -f1-5; wc -l <ranks.csv
h5dump -H ranks.h5 | grep -oE '(GROUP|DATASET) "[a-z_]+"' | tr '\n' ' '; echo
h5dump -d /straggler/rank -y ranks.h5 | sed -n '/DATA {/,/}/p' | head -n 2 | tr -d ' \n'; echo
metric-eval ranks job -m gpu__time_duration.sum --csv ranks.csv >/dev/null; echo "status $?"
echo == one that is merged gives the same
metric-eval merge job -o all.cwd
for how in '' '--by nvtx' '--by family'; do
    # shellcheck disable=SC2086
    cmp <(metric-eval ranks job -q $how --json - | tail -n +2) <(metric-eval ranks all.cwd -q $how --json - | tail -n +2) && echo the same
done
mkdir many; make_ranks "$SOURCE/data/captures/gpus.cwd" 1500 many 20 1400; metric-eval merge many -o all.cwd # two batches
cmp <(metric-eval ranks many --json - | tail -n +2) <(metric-eval ranks all.cwd --json - | tail -n +2) && echo the same
metric-eval ranks many -q -m gpu__time_duration.sum | sed -n '/Slow/,/^$/p'
echo == what is no job
metric-eval ranks "$SOURCE/data/captures/gemm.cwd"; echo "status $?"
metric-eval ranks "$SOURCE/data/captures/pm_gemm.cwd"; echo "status $?"
metric-eval ranks job "$SOURCE/data/captures/gemm.cwd"; echo "status $?"
metric-eval ranks; echo "status $?"
metric-eval ranks job --json job/run.0.cwd; echo "status $?"
metric-eval ranks job --report page.html; head -c 15 page.html; echo
metric-eval ranks job --report - --csv page.csv | sed -n '1s/<!-- .*//p; $p'; metric-eval ranks job --report page.html --json page.json | head -n 1
metric-eval ranks job --report job/run.0.cwd; echo "status $?"
metric-eval ranks job -m nothing__at_all.sum 2>&1 | head -n 1
head -c 100000 job/run.7.cwd >job/run.8.cwd; rm job/run.7.cwd
metric-eval ranks job -m gpu__time_duration.sum 2>&1 | head -n 2
