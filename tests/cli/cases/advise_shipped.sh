# The shipped rules: they load on every chip, can be planned on those for which anything can, say something of every
# capture, and one kernel's advice is short.
data=$SOURCE/data
for chip in "$data"/chips/*.yaml; do
    chip=$(basename "$chip" .yaml)
    case $chip in gh100 | gb202 | tu102 | gv100) metric-query lint --chip "$chip" | grep -E 'error: .*\[rule-' ;; esac
    [ "$chip" = gv11b ] || metric-config --chip "$chip" --for-advice --no-native -o plan.cwc 2>errors || echo "$chip: no plan"
done
metric-config --chip gv11b --for-advice --no-native -o plan.cwc 2>&1 | grep -v 'left out'
cat >check.py <<'END'
import json, re, sys
told = 0
for name in sys.argv[1:]:
    text = open(name).read()
    advice = json.loads(text)
    if not {"capture", "chip", "time_ns", "kernel_count", "kernels", "not_checked", "not_for_this_chip"} <= advice.keys():
        print(name, "lacks members")
    if len(advice["kernels"]) != advice["kernel_count"]:
        print(name, "lacks kernels")
    times = [k["time_ns"] or 0 for k in advice["kernels"]]
    if times != sorted(times, reverse=True):
        print(name, "has another order of kernels")
    for k in advice["kernels"]:
        of = f"{name} {k['kernel'][:40]}"
        if not {"kernel", "launches", "time_ns", "limiter", "confidence", "findings"} <= k.keys():
            print(of, "lacks members")
        if k["confidence"] not in ("low", "medium", "high"):
            print(of, "has the confidence", k["confidence"])
        if len(json.dumps(k)) > 6000:
            print(of, "is longer than 2,000 tokens:", len(json.dumps(k)))
        gains = [f["gain"] for f in k["findings"]]
        if gains != sorted(gains, reverse=True) or any(not (0.05 <= g <= 1) for g in gains[:-1]):
            print(of, "has the gains", gains)
        for f in k["findings"]:
            told += 1
            if not {"rule", "gain", "text", "evidence", "lines"} <= f.keys() or re.search(r"[{}?]", f["text"]):
                print(of, "has the finding", f)
            if any(not {"metric", "value", "status"} <= e.keys() for e in f["evidence"]) or not f["evidence"]:
                print(of, "has the evidence", f["evidence"])
print("findings" if told > 50 else told)
END
for capture in "$SOURCE"/tests/advice/h200.cwd "$data"/captures/*.cwd; do
    name=$(basename "$capture" .cwd)
    case $name in pc_* | pm_* | sass_* | trace_*) continue ;; esac
    metric-eval advise "$capture" --format json >"$name.json" 2>errors || { echo "$name: exit $?"; cat errors; }
    metric-eval advise "$capture" --top 1000 >"$name.txt" 2>&1 || echo "$name: exit $?"
    awk -v name="$name" 'length > 160 { print name ": " $0 }' "$name.txt"
done
python3 check.py ./*.json
