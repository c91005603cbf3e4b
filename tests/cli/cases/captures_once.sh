# Launches that must not be repeated, on H200: of two processes that share memory by CUDA IPC, and of collectives on two GPUs.
# Each has the counters of one pass; the range says why, and the rest is not collected.
for file in once_ipc once_collective; do
    metric-eval "$SOURCE/data/captures/$file.cwd" --json - | python3 -c '
import collections, json, sys
found = collections.Counter()
for r in json.load(sys.stdin)["ranges"]:
    a, statuses = r["attributes"], collections.Counter(m["status"] for m in r["metrics"])
    found[r["device"], a["replay"], a.get("once", ""), *sorted(statuses.items())] += 1
for key in sorted(found, key=str):
    print(found[key], "of device %d by %s: %s" % key[:3], *("%s: %d," % s for s in key[3:]))'
done
