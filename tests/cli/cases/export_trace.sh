# A trace for viewers of timelines, read by readers of their own.
read_perfetto=$SOURCE/tests/support/read_perfetto
echo "== every kind of event"
capture-agent trace --backend sim -q --kinds all -o all.cwd -- true 2>/dev/null
metric-eval export all.cwd --perfetto all.pftrace
"$read_perfetto" all.pftrace --list >all.txt
grep -E "^(process|thread|track|counter) " all.txt
tail -1 all.txt
for lane in NVTX "main: cuda_runtime" "stream 7" "stream 13" synchronization overhead jit: "memory:" "unified memory:" "in use"; do
    grep -m1 "^[0-9]* [bic][a-z]* rank 0.*$lane" all.txt | sed 's/^[0-9]*/TIME/;s/address=[0-9a-fx]*/address=X/'
done
echo "== ranks, graphs, kernels without times"
make_trace run.cwd launches=20000 processes=3 graphs=4 untimed=10
metric-eval export run.cwd --format perfetto -o run.pftrace
"$read_perfetto" run.pftrace
metric-eval export run.cwd --format perfetto | cmp - run.pftrace
echo "== the same as JSON"
metric-eval export all.cwd --format chrome -o all.json
metric-eval export all.cwd --format chrome | cmp - all.json
python3 - <<'E2'
import collections, json
trace = json.load(open("all.json"))
events = trace["traceEvents"]
kinds = collections.Counter(e["ph"] for e in events)
listed = [line.split(" ", 2) for line in open("all.txt") if line[0].isdigit()]
print("slices and marks as in the other file:", kinds["X"] == sum(l[1] == "begin" for l in listed),
      kinds["i"] == sum(l[1] == "instant" for l in listed), kinds["C"] == sum(l[1] == "count" for l in listed))
ends = collections.defaultdict(list)
for e in events:
    if e["ph"] in "sf":
        ends[e["id"]].append(e["ph"])
print("arrows:", len(ends), all(e == ["s", "f"] for e in ends.values()))
open_until = collections.defaultdict(list)
good = True
for e in events:
    if e["ph"] == "X":
        lane, end = open_until[e["pid"], e["tid"]], round(1000 * (e["ts"] + e["dur"]))
        while lane and lane[-1] <= round(1000 * e["ts"]):
            lane.pop()
        good = good and (not lane or end <= lane[-1])
        lane.append(end)
print("nested:", good)
threads = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
print("lanes have names:", {(e["pid"], e["tid"]) for e in events if e["ph"] in "Xi"} <= threads)
E2
echo "== JSON read back has the same events"
# COLUMNS FILE KIND: the rows, sorted
rows() { metric-eval "$2" -q --kind "$3" --csv - | python3 -c '
import csv, sys
wanted = sys.argv[1].split(",")
for row in sorted(tuple(r.get(c, "") for c in wanted) for r in csv.DictReader(sys.stdin)): print(*row)' "$1"; }
back() { # CAPTURE
    metric-eval export "$1" --format chrome -o back.chrome.json -q
    local on_gpu=start_ns,end_ns,device,context,stream,correlation,process
    while read -r kind columns; do
        rows $columns "$1" $kind >there.txt; rows $columns back.chrome.json $kind | diff there.txt - >changed.txt && echo "$kind: $(wc -l <there.txt) rows" || { echo "$kind:"; head -4 changed.txt; }
    done <<END
kernel $on_gpu,name,grid_x,grid_y,grid_z,block_x,block_y,block_z,registers_per_thread
copy $on_gpu,bytes,direction,source,target
memset $on_gpu,bytes,memory
graph_launch $on_gpu
runtime start_ns,end_ns,thread,correlation,name,process
driver start_ns,end_ns,thread,correlation,name,process
nvtx_range start_ns,end_ns,thread,domain,name,process
END
    for file in "$1" back.chrome.json; do metric-eval show $file | grep -A1 ^device; done | sort | uniq -c
}
back all.cwd
back "$SOURCE/data/captures/trace_train.cwd"
back "$SOURCE/data/captures/trace_nccl.cwd"
capture-agent trace --backend sim -q --graphs whole -o graphs.cwd -- true 2>/dev/null; back graphs.cwd
back "$SOURCE/tests/foreign/kineto.json"
metric-eval show back.chrome.json | grep ^process
echo "== the name of a copy leaves out the unknown"
python3 - <<'E2'
import json
names = ["Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD", "Memcpy HtoD (-> Device)", "Memcpy HtoD (Pinned ->)", "Memcpy (Pinned -> Device)", "Memcpy", "Memset (Device)", "Memset"]
json.dump({"traceEvents": [{"ph": "X", "cat": "gpu_" + name[:6].lower(), "name": name, "ts": 10 * i + 1, "dur": 1, "args": {"device": 0, "context": 1, "stream": 7, "correlation": i}} for i, name in enumerate(names)]}, open("known.json", "w"))
E2
metric-eval export known.json --format chrome | grep -o '"name": "Mem[^"]*"'
metric-eval known.json -q --kind copy --csv - | columns direction,source,target
back known.json | grep -A9 -E "^(copy|memset)"
echo "== PM samples with the trace beside them"
cat >prog <<'E2'
exec >$COUNTERWORKS_SIM
echo push outer; echo launch a; echo push inner; echo launch b; echo pop; echo launch a; echo pop
E2
metric-config --chip GH100 --profiler pm -m sm__cycles_active.avg,dram__bytes_read.sum.per_second --no-native -o pm.cwc 2>/dev/null
capture-agent pm --backend sim -q -c pm.cwc -o pm.cwd -- sh prog
metric-eval export pm.cwd --perfetto pm.pftrace
"$read_perfetto" pm.pftrace --list >pm.txt
grep -E "^(process|thread|track|counter) " pm.txt | sed 's/[0-9]*$//'
grep " begin .*'[ab]'" pm.txt
tail -1 pm.txt
metric-eval pm.cwd --csv - --tidy | python3 -c '
import csv, sys
points = {(l.split(" ")[0], l.split(" ")[-2].rsplit("/", 1)[-1]): float(l.split(" ")[-1]) for l in open("pm.txt") if " count " in l}
rows = list(csv.DictReader(sys.stdin))
values = {(r["start_ns"], r["metric"]): float(r["value"]) for r in rows}
print(len(points), len(values), points.keys() == values.keys(), all(abs(points[k] - v) <= 1e-5 * v for k, v in values.items()))'
metric-eval export pm.cwd --format chrome -m sm__cycles_active.avg | grep -c '"ph": "C"'
metric-eval export "$SOURCE/data/captures/pm_gpus.cwd" --perfetto x.pftrace 2>&1 | sed "s,$SOURCE/data/captures/,,"
metric-eval export all.cwd pm.cwd --perfetto x.pftrace
echo "== the reader finds what is wrong"
python3 - "$read_perfetto" <<'E2'
import contextlib, io, sys
reader = compile(open(sys.argv[1]).read(), sys.argv[1], "exec")
data = open("pm.pftrace", "rb").read()
def varint(at):
    value = shift = 0
    while True:
        byte = data[at]; at += 1; value |= (byte & 127) << shift; shift += 7
        if byte < 128: return value, at
packets, at = [], 0
while at < len(data):
    size, body = varint(at + 1)
    packets.append(data[at:body + size]); at = body + size
def without(wanted):
    left = [p for i, p in enumerate(packets) if i != wanted]
    open("bad.pftrace", "wb").write(b"".join(left))
    sys.argv[1:] = ["bad.pftrace"]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(reader, {})
    except SystemExit as end:
        return end.code
bad = [i for i in range(len(packets)) if without(i)]
print("packets that it misses:", len(bad), "of", len(packets), bad[:9], "and the last:", len(packets) - 1 in bad)
E2
echo "== mistakes"
metric-eval export all.cwd
metric-eval export all.cwd --format csv
metric-eval export all.cwd --format prometheus
metric-eval export "$SOURCE/data/captures/gpus.cwd" --perfetto x.pftrace 2>&1 | sed "s,$SOURCE/data/captures/,,"
metric-eval export all.cwd --perfetto x.pftrace -o y.pftrace
metric-eval export all.cwd --perfetto x.pftrace --format csv
metric-eval export all.cwd --perfetto x.pftrace --all
metric-eval export all.cwd --perfetto all.cwd
echo text >mine.txt; metric-eval export all.cwd --perfetto mine.txt; cat mine.txt
for i in 1 2; do metric-eval export all.cwd --perfetto own; metric-eval export all.cwd --format chrome -o own.json; done
metric-eval export all.cwd --perfetto /dev/full; echo "status $?"
make_trace large.cwd launches=1400000 nvtx=0
metric-eval export large.cwd --format chrome -o large.json; ls large.json*
(ulimit -f 2; metric-eval export large.cwd --perfetto large.pftrace; echo "status $?"); ls large.pftrace*
head -c 20000 all.cwd >cut.cwd; metric-eval export cut.cwd --perfetto cut.pftrace && "$read_perfetto" cut.pftrace | sed 's/[0-9][0-9]*/N/g'
echo "== names of kernels, calls and ranges are drawn alike"
python3 -c '
import sys; sys.path.insert(0, sys.argv[1])
from make_attacks import *
names = ["line1\nline2\ttab", "ctl\x01\x1b[31m", "torch\\cuda", "\u202eabc", "x,\"y\"", "\u6838"]
numbers = range(1, len(names) + 1)
def columns(*of): return b"".join(column(*[f(i) for i in numbers]) for f in of)
time, own = lambda i: 1700000000000000000 + 1000 * i, lambda i: i
kinds = {"launch_shape": [("id", 0), ("name", 3)], "kernel": [("start", 1), ("end", 1), ("correlation", 0), ("shape", 0)],
         "runtime": [("start", 1), ("end", 1), ("thread", 0), ("correlation", 0), ("name", 3)],
         "nvtx_range": [("start", 1), ("end", 1), ("thread", 0), ("name", 3)]}
rows = {"launch_shape": (own, own), "kernel": (time, lambda i: time(i) + 9, own, own),
        "runtime": (lambda i: time(i) - 500, lambda i: time(i) - 400, lambda i: 1, own, own),
        "nvtx_range": (lambda i: time(i) - 600, lambda i: time(i) - 300, lambda i: 1, own)}
open("odd.cwd", "wb").write(trace_of(kinds, names, [(kind, len(names), columns(*of)) for kind, of in rows.items()]))' "$SOURCE/tests/attacks"
metric-eval export odd.cwd --format chrome -o odd.json
python3 -c '
import json
events = [e for e in json.load(open("odd.json"))["traceEvents"] if e.get("cat") in ("kernel", "cuda_runtime", "user_annotation")]
names = [[e["name"] for e in events if e["cat"] == cat] for cat in ("kernel", "cuda_runtime", "user_annotation")]
print(names[0] == names[1] == names[2], names[0])'
metric-eval export odd.cwd --perfetto odd.pftrace && "$read_perfetto" odd.pftrace --list | grep "begin.*'ctl" | grep -o " [a-z_]* 'ctl[^']*'"
echo "== threads with numbers that no system gives, without a number, and whose calls overlap"
python3 -c '
import json
threads = [679, 679, 2**30, 2**30 + 1, 2**30 + 2, 2**30 + 3, 2**30 + 9, 2**40, -3, 0]
events = [{"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": at + 9 * i, "dur": 12, "args": {"correlation": i}}
          for i, tid in enumerate(threads) for cat, name, at in (("user_annotation", "r%d" % i, 9), ("cuda_runtime", "call", 10))]
json.dump({"traceEvents": events}, open("threads.json", "w"))'
for i in 1 2 3; do
    metric-eval threads.json --kind runtime --format csv -q | cut -d, -f1,3,4 >calls.csv; metric-eval threads.json --kind nvtx_range --format csv -q | cut -d, -f1,3,6 >>calls.csv
    [ $i = 1 ] && { cat calls.csv; mv calls.csv first.csv; } || cmp first.csv calls.csv
    metric-eval export threads.json -o threads.chrome.json -q --force && mv threads.chrome.json threads.json
    python3 -c '
import json, collections
lanes = collections.defaultdict(set)
for e in json.load(open("threads.json"))["traceEvents"]:
    if e["ph"] == "M" and e["name"] == "thread_name":
        lanes[e["pid"], e["tid"]].add(e["args"]["name"])
print(len(lanes), "lanes,", sum(len(names) > 1 for names in lanes.values()), "with two names:", sorted(set(n for names in lanes.values() for n in names)))'
done
metric-eval export threads.json -o threads.pftrace -q && "$read_perfetto" threads.pftrace | tail -n 1
