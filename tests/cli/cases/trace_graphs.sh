# Real traces explain CUDA graphs and calls: nodes and edges of a graph, the memory of calls, windows of access.
cat >check.py <<'END'
import csv, io, subprocess, sys
def rows(kind):
    text = subprocess.run(["metric-eval", sys.argv[1], "--kind", kind, "--csv", "-", "-q"], capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))
nodes = {row["graph_node"]: row for row in rows("graph_node")}
edges, graphs = rows("graph_edge"), rows("graph")
print(len(nodes), "nodes,", len(edges), "edges,", sorted({row["type"] for row in graphs}))
print(all(row["graph_node"] in nodes and row["depends_on"] in nodes for row in edges) and "each edge joins two of the nodes")
ran = [(kind, nodes.get(row["graph_node"])) for kind in ("kernel", "copy", "memset") for row in rows(kind) if row["graph_node"]]
print(len(ran), "rows of nodes,", sum(node is not None and node["type"] == kind for kind, node in ran), "of the node's type")
made = {row["graph"]: row["parent"] for row in graphs if row["type"] == "instantiate"}
print(all(node["graph"] in made for _, node in ran) and "all in a graph that was instantiated")
calls = {row["correlation"]: row for kind in ("runtime", "driver") for row in rows(kind)}
copies = [(row, calls[row["correlation"]]) for row in rows("copy") if row["correlation"] in calls]
copies = [(row, call) for row, call in copies if call.get("source_address")]
print(len(copies), "copies of linear memory,", sum(row["bytes"] == call["bytes"] for row, call in copies), "with the call's bytes")
memory = [(row, calls[row["correlation"]]) for row in rows("memory") if calls.get(row["correlation"], {}).get("address")]
print(len(memory), "allocations and frees by such a call,", sum(row["address"] == call["address"] for row, call in memory), "at its address")
print(sorted({call["name"] for _, call in memory}))
END
python3 check.py "$SOURCE/data/captures/trace_graphs.cwd"
metric-eval "$SOURCE/data/captures/trace_graphs.cwd" --kind memory --csv - -q | python3 -c '
import csv, sys
print(sorted({(r["pool_type"], r["pool_threshold"]) for r in csv.DictReader(sys.stdin)}))'
echo == names of nodes
metric-eval "$SOURCE/data/captures/trace_whole.cwd" --kind graph_node --csv - -q | cut -d, -f 2- | sed 1d | awk -F, '{ print $1, ($1 == "kernel" ? ($4 == "" ? "without a name" : "with a name") : "") }' | sort | uniq -c | sed 's/^ *//'
echo == a window of access
metric-eval "$SOURCE/data/captures/trace_access.cwd" --kind launch_shape --csv - -q | cut -d, -f 2,24-27
echo == the same of the simulator
capture-agent trace --backend sim -q --sim-processes 1 --kinds all -o sim.cwd -- true 2>/dev/null
for kind in graph graph_node graph_edge; do metric-eval sim.cwd --kind $kind --csv - -q | cut -d, -f 2-; done
metric-eval sim.cwd --kind runtime --csv - -q | awk -F, '{print $5, $7, $8, $9}' | grep -E 'name|Mem|Alloc|Free' | sort -u | head -n 6
