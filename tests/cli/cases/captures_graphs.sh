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
# The same program whose graphs were counted kernel by kernel: they have what ncu counts of them, and what CUPTI counts by
# patching code. One range holds the driver's own kernels as well, which set and copy: 30,336 of its 173,703 instructions.
# A graph with a host node stays whole.
metric-eval show "$SOURCE/data/captures/graph_kernels.cwd" | grep -E '^(ranges|dropped)'
metric-eval "$SOURCE/data/captures/graph_kernels.cwd" --json - | python3 -c '
import collections, json, sys
found = collections.Counter()
kernels = []
for r in json.load(sys.stdin)["ranges"]:
    m = {m["name"]: m for m in r["metrics"]}
    instructions = m["smsp__inst_executed.sum"]["value"]
    patched = m["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"]["status"]
    if "graph_kernel" not in r["attributes"]:
        if r["attributes"].get("graphs"):
            found[r["name"], "1", instructions, patched] += 1
        continue
    number, of = map(int, r["attributes"]["graph_kernel"].split(" of "))
    assert number == len(kernels) + 1, (number, kernels)
    kernels.append(instructions)
    if number == of:
        found["a graph of %d, each by itself" % of, "0", sum(kernels), patched] += 1
        kernels = []
for (name, graphs, instructions, status), n in found.items():
    print("%d of %s: %s graphs, %s instructions, by patched code %s" % (n, name, graphs, instructions, status))'
metric-eval "$SOURCE/data/captures/graph_kernels.cwd" -m smsp__inst_executed.sum
