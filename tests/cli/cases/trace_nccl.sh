# Real traces of NCCL's calls, with the payloads that it describes to NVTX, and of kernels that ran one after another.
rows() { metric-eval "$SOURCE/data/captures/$1.cwd" --kind "$2" --csv - -q; }
rows trace_nccl nvtx_range | python3 -c '
import collections, csv, json, sys
calls = [(r["name"], json.loads(r["payload_text"] or "{}")) for r in csv.DictReader(sys.stdin)]
for (name, size, what), n in sorted(collections.Counter((name, p.get("Message size [bytes]", 0), p.get("Reduction operation", p.get("Peer rank"))) for name, p in calls).items(), key=str):
    print(n, name, size, what)
print(len({p["NCCL communicator ID"] for _, p in calls if p}), "communicator")'
metric-eval "$SOURCE/data/captures/trace_nccl.cwd" --by nvtx --top 4 -q
metric-eval export "$SOURCE/data/captures/trace_nccl.cwd" -q -o nccl.chrome.json
python3 -c '
import json
shown = [(e["name"], json.loads(e["args"]["payload"])) for e in json.load(open("nccl.chrome.json"))["traceEvents"] if "payload" in e.get("args", {})]
print(len(shown), "payloads,", sum(p["Message size [bytes]"] for name, p in shown if name == "ncclSend"), "bytes sent")'
echo == one after another
rows trace_serial kernel | sed 1d | cut -d, -f 1,2 | sort -t, -n | awk -F, '$1 < end { n++ } { end = $2 } END { print NR, "kernels,", n + 0, "overlap" }'
metric-eval show "$SOURCE/data/captures/trace_serial.cwd" | grep -o 'kernels one after another'
capture-agent trace --backend sim --serialize -q -o sim.cwd -- true; metric-eval show sim.cwd | grep -c 'kernels one after another'
capture-agent trace --backend sim --serialize --kinds nvtx -o none.cwd -- true 2>&1 | head -n 1
