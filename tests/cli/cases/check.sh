# Comparing values: recorded ones, and NVIDIA's on native data (tests/golden/native_sample has the comparison itself).
capture=$SOURCE/data/captures/gemm.cwd
metric-eval --check "$SOURCE/data/captures/gemm.json" "$capture"
ranges=$(metric-eval "$capture" -m gpu__time_duration.sum --csv - | tail -n +2 | wc -l)
reference() {
    printf '{"metrics": ["sm__inst_executed.sum", "sm__inst_executed.min", "dram__bytes.sum"], "ranges": ['
    for i in $(seq "$ranges"); do printf '%s[%s]' "$([ "$i" = 1 ] || echo ,)" "$1"; done
    printf ']}\n'
}
reference '1, "nan", "inf"' >wrong.json
metric-eval --check wrong.json "$capture" | tail -1; echo "status ${PIPESTATUS[0]}"
reference '1, 2' >short.json
metric-eval --check short.json "$capture"; echo "status $?"
metric-eval --native run.native "$capture" --range x; echo "status $?"
metric-eval --check "$SOURCE/data/captures/gemm.json" --native run.native "$capture"; echo "status $?"
CW_NVPERF_HOST=/nowhere metric-eval --check --native run.native "$capture" 2>/dev/null; echo "status $?"
echo patched code in CUDA graphs, which other evaluators take for counted:
metric-eval "$SOURCE/data/captures/graphs.cwd" -m smsp__sass_inst_executed.sum,smsp__inst_executed.sum --json - | python3 -c '
import json, sys
ranges = json.load(sys.stdin)["ranges"]
values = [[0 if m["value"] is None else m["value"] for m in r["metrics"]] for r in ranges]
print(json.dumps({"metrics": [m["name"] for m in ranges[0]["metrics"]], "ranges": values}))' >reference.json
metric-eval --check reference.json "$SOURCE/data/captures/graphs.cwd"; echo "status $?"
