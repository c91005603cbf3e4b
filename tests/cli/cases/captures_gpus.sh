# Two H200 driven by two threads of one process (data/captures/workloads/gpus.cu): each GPU has its launches, and does the
# same work.
metric-eval "$SOURCE/data/captures/gpus.cwd" -m sm__inst_executed.sum --json - | python3 -c '
import collections, json, sys
found = collections.defaultdict(list)
for r in json.load(sys.stdin)["ranges"]:
    found[r["device"], r["name"].partition("(")[0], r["attributes"]["replay"]].append(r["metrics"][0]["value"])
for key in sorted(found):
    print("device %d: %s, replayed by %s:" % key, found[key])'
metric-eval show "$SOURCE/data/captures/gpus.cwd" | grep -E '^device|name|pci|^end'
echo == a row of both is of neither
metric-eval "$SOURCE/data/captures/gpus.cwd" --wide --quiet | grep -E 'device|^(shift|scale)'
metric-eval "$SOURCE/data/captures/gpus.cwd" --by device --wide --quiet | grep -E '^  device'
metric-eval "$SOURCE/data/captures/gpus.cwd" --by kernel -m gpu__time_duration.sum --csv - --quiet
metric-eval "$SOURCE/data/captures/gpus.cwd" --by kernel --json - --quiet | python3 -c 'import json, sys; print([g["device"] for g in json.load(sys.stdin)["groups"]])'
metric-eval export "$SOURCE/data/captures/gpus.cwd" --format prometheus -o - | grep time_seconds
