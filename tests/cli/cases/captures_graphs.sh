# CUDA graphs on an H100: each launch is one range whose hardware counters are those of its kernels; what CUPTI counts by
# patching code it misses there.
metric-eval show "$SOURCE/data/captures/graphs.cwd" | grep -E '^(ranges|dropped)'
metric-eval "$SOURCE/data/captures/graphs.cwd" --json - | python3 -c '
import collections, json, sys
found = collections.OrderedDict()
for r in json.load(sys.stdin)["ranges"]:
    m = {m["name"]: m for m in r["metrics"]}
    key = r["name"], r["attributes"].get("graphs", "0"), m["smsp__inst_executed.sum"]["value"], m["smsp__sass_inst_executed.sum"]["status"]
    found[key] = found.get(key, 0) + 1
for (name, graphs, instructions, status), n in found.items():
    print("%d of %s: %s graphs, %s instructions, by patched code %s" % (n, name, graphs, instructions, status))'
