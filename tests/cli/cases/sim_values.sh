# The simulated GPU counts what a GPU can: shares within 100 %, hits at most lookups, nothing below 0, cycles as time has.
metric-config --chip GH100 --no-native --set full -o plan.cwc 2>/dev/null
seeds=(0 1 2)
[ "${SANITIZED:-0}" = 0 ] || seeds=(0) # the code is the same for each
for seed in "${seeds[@]}"; do
    capture-agent range --backend sim --sim-seed $seed -c plan.cwc -o run.cwd -- true 2>/dev/null
    metric-eval run.cwd --tidy --csv - 2>/dev/null | python3 -c '
import csv, sys
count = 0
for row in csv.DictReader(sys.stdin):
    name, value = row["metric"], float(row["value"])
    if value != value:
        continue
    count += 1
    share = ".pct" in name and "latency" not in name and "stalled" not in name
    if value < 0 or (share and value > 102) or value == float("inf"):
        print(name, value)
    if name == "sm__cycles_elapsed.avg.per_second" and not 1.9e9 < value < 2e9:
        print(name, value)
count > 500 or print("found no more than", count, "values")'
done
