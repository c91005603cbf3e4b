# A trace joined with captures of ranges of the same program: real captures with traces that were made of them, and
# simulated runs of one program.
C=$SOURCE/data/captures
trace() { trace_of_ranges "$C/$1.cwd" "$2" "$3" trace.cwd; }
join() { metric-eval join trace.cwd "$@"; }
echo "== every launch has its twin"
trace transformer 1 1
join "$C/transformer.cwd" --top 3 | cut -c1-120
echo "== families, and a metric beside what limits them"
join "$C/transformer.cwd" --by family --top 3 -m sm__throughput.avg.pct_of_peak_sustained_elapsed -q
echo "== NVTX ranges: launches of the trace have the metrics of the launch in the same range"
trace gpus 1 0.8
join "$C/gpus.cwd" --by nvtx --top 3
metric-eval join "$C/trace_train.cwd" "$C/transformer.cwd" --by nvtx --top 6 -q
for by in stream device rank; do join "$C/gpus.cwd" --by $by -q; done
echo "== twice as many as were counted"
trace gpus 2 1
join "$C/gpus.cwd"
echo "== graphs, and user ranges"
trace graphs 1 1
join "$C/graphs.cwd"
trace nvtx_user 1 1
join "$C/nvtx_user.cwd"
echo "== multiplexed"
trace multiplexed 1 1
join "$C/multiplexed.cwd" --top 2 -m dram__throughput.avg.pct_of_peak_sustained_elapsed | cut -c1-130
echo "== PC samples of the same program"
trace gemm 1 1
join "$C/gemm.cwd" "$C/pc_gemm.cwd" | sed '/^$/d' | cut -c1-150
join "$C/pc_gemm.cwd" "$C/gemm.cwd" -o h.h5 --json h.json -q
join "$C/pc_gemm.cwd" "$C/gemm.cwd" -q
python3 -c 'import json; j = json.load(open("h.json")); print(len(j["hot"]), j["hot"][0])'
h5dump -d /hot/samples h.h5 | grep '(0)' | head -1
echo "== another program"
trace multi 1 1
join "$C/stream.cwd" --top 2
trace gemm 1 1
join "$C/h200_gemm.cwd" --top 1 | head -5
echo "== a simulated program; what was skipped before has no number"
cat >program <<'END'
#!/bin/sh
exec >"${COUNTERWORKS_SIM:-/dev/null}"
for step in 1 2 3; do
    echo "push step $step"
    for launch in 1 2 3; do printf 'launch gemm\nlaunch softmax\n'; done
    echo pop
done
END
chmod +x program
metric-config --chip GH100 --for-advice -o plan.cwc
capture-agent trace --backend sim -o trace.cwd -- ./program 2>/dev/null
capture-agent range --backend sim --sim-loop 2 -c plan.cwc -o run.cwd -- ./program 2>/dev/null
join run.cwd
capture-agent range --backend sim --sim-loop 2 --kernel gemm --launch-skip 2 -c plan.cwc -o run.cwd --force -- ./program 2>/dev/null
join run.cwd --sort launches --filter 'share < 0.5'
echo "== a program that says nothing is the same however it is collected"
capture-agent trace --backend sim -q -o trace.cwd --force -- true
capture-agent range --backend sim -q -c plan.cwc -o run.cwd --force -- true
for by in kernel nvtx device; do join run.cwd --by $by -m sm__cycles_active.avg --top 3 --csv - | cut -d, -f1,3,4; done
capture-agent pc --backend sim -q -o hot.cwd -- true
capture-agent pm --backend sim -q -c <(metric-config --chip GH100 --profiler pm -m sm__cycles_active.avg --no-native -o /dev/stdout) -o pm.cwd -- true
join run.cwd hot.cwd
join pm.cwd --csv - | cut -d, -f1-3
metric-eval merge trace.cwd trace.cwd -o twice.cwd
metric-eval join twice.cwd run.cwd 2>&1 | head -4
echo "== hot lines of another program"
join run.cwd "$C/pc_gemm.cwd" | tail -3
echo "== files"
trace gpus 2 1
join "$C/gpus.cwd" -o j.h5 --csv j.csv --json j.json -q
join "$C/gpus.cwd" -q
head -2 j.csv
join "$C/gpus.cwd" --by launch -m gpu__time_duration.sum --csv - | awk 'NR <= 3 || NR == 25'
python3 - <<'END'
import json
j = json.load(open("j.json"))
print(len(j["groups"]), j["left"])
END
h5dump -d /timeline/kernel/range -d /timeline/kernel/group j.h5 | grep -E '\(0\)|\([0-9]+\):' | tail -3 | sed "s/DATASET [0-9]*/DATASET/"
echo "== mistakes"
join
metric-eval join "$C/gpus.cwd" "$C/gpus.cwd"
join trace.cwd "$C/gpus.cwd"
join "$C/sass_gemm.cwd" "$C/gpus.cwd"
join "$C/gpus.cwd" --by range 2>&1 | head -1
join "$C/gpus.cwd" --by launch
join "$C/gpus.cwd" --csv trace.cwd; join "$C/gpus.cwd" --csv x --json x
join "$C/gpus.cwd" "$C/pm_gemm.cwd"
join "$C/gpus.cwd" "$C/pc_gemm.cwd" "$C/pc_gemm.cwd"
echo "== PM samples, by kernel"
cat >prog <<'E2'
exec >$COUNTERWORKS_SIM
echo launch a; echo launch b; echo launch a
E2
metric-config --chip GH100 --profiler pm -m sm__cycles_active.avg --no-native -o pm.cwc 2>/dev/null
capture-agent pm --backend sim -q -c pm.cwc -o pm.cwd -- sh prog
{ cat prog; echo "echo launch c"; } >more
capture-agent trace --backend sim -q -o kernels.cwd -- sh more
metric-eval join kernels.cwd pm.cwd
metric-eval join kernels.cwd pm.cwd --csv - | python3 -c '
import csv, sys
rows = {r["kernel"]: r for r in csv.DictReader(sys.stdin)}
print(sorted(rows), {k: (r["traced"], r["launches"]) for k, r in rows.items()})'
metric-eval pm.cwd --tidy --csv - | python3 -c '
import csv, json, subprocess, sys
samples = [(int(r["start_ns"]), int(r["end_ns"]), float(r["value"])) for r in csv.DictReader(sys.stdin)]
launches = json.loads(subprocess.check_output(["metric-eval", "pm.cwd", "--json", "-"]))["launches"]
joined = json.loads(subprocess.check_output(["metric-eval", "join", "kernels.cwd", "pm.cwd", "--json", "-"]))["kernels"]
for kernel in joined:
    parts = [(min(e, l["end_ns"]) - max(s, l["start_ns"]), v) for l in launches if l["name"] == kernel["kernel"] for s, e, v in samples]
    parts = [(ns, v) for ns, v in parts if ns > 0]
    mean = sum(ns * v for ns, v in parts) / sum(ns for ns, v in parts)
    print(kernel["kernel"], abs(mean - kernel["metrics"][0]["value"]) < 1e-9 * mean, sum(ns for ns, v in parts) == kernel["time_ns"])'
metric-eval join kernels.cwd "$C/pm_gpus.cwd" --top 1
metric-eval join kernels.cwd pm.cwd --by nvtx
metric-eval join kernels.cwd pm.cwd "$C/gpus.cwd"
metric-eval join kernels.cwd pm.cwd pm.cwd
echo == several outputs are what each is alone
repeat_ranges "$C/gemm.cwd" 40 4 runs.cwd && trace_of_ranges runs.cwd 1 0.9 runs_trace.cwd
few='-m sm__inst_executed.sum'
for way in "join runs_trace.cwd runs.cwd $few" runs_trace.cwd "runs.cwd $few"; do
    metric-eval $way -q -o alone.h5; metric-eval $way -q --json alone.json
    metric-eval $way -o all.h5 --json all.json
    h5diff -q alone.h5 all.h5 && cmp alone.json all.json && echo "${way%% -m*}: the same"
done
