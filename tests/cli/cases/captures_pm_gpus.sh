# Two H100 sampled at once around gpus.cu, which does the same on both: each has samples, a table and launches of its own,
# and a sample with a launch in it has instructions.
metric-eval "$SOURCE/data/captures/pm_gpus.cwd"
metric-eval "$SOURCE/data/captures/pm_gpus.cwd" -m TPC.TriageCompute.sm__inst_executed_realtime.sum --json - | python3 -c '
import collections, json, sys
all = json.load(sys.stdin)
for device in 0, 1:
    samples = [s for s in all["samples"] if s["device"] == device]
    launches = [l for l in all["launches"] if l["device"] == device]
    total = sum(s["values"][0] for s in samples)
    busy = [s for s in samples if s["values"][0]]
    inside = sum(any(s["start_ns"] <= l["start_ns"] and l["end_ns"] <= s["end_ns"] for s in busy) for l in launches)
    gaps = sum(a["end_ns"] != b["start_ns"] for a, b in zip(samples, samples[1:]))
    print("GPU", device, "instructions", total, "launches", len(launches), "in busy samples", inside, "gaps", gaps)'
