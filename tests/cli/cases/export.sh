# A capture for other programs: each format is read by a parser of its own.
C=$SOURCE/data/captures
metric-eval export "$C/nvtx_runs.cwd" --format csv --tidy -o run.csv
metric-eval export "$C/nvtx_runs.cwd" --format ndjson | tee run.ndjson | "$SOURCE/tests/support/follows_schema" "$SOURCE/data/schemas/rows.schema.json" --lines
metric-eval export "$SOURCE/tests/foreign/ncu_raw.csv" --format ndjson 2>/dev/null | "$SOURCE/tests/support/follows_schema" "$SOURCE/data/schemas/rows.schema.json" --lines
for capture in pm_gemm pc_gemm sass_gemm; do
    metric-eval export "$C/$capture.cwd" --format ndjson | "$SOURCE/tests/support/follows_schema" "$SOURCE/data/schemas/rows.schema.json" --lines
    metric-eval export "$C/$capture.cwd" --format csv | sed 1q
done
metric-eval export "$C/nvtx_runs.cwd" --format folded >run.folded
metric-eval export "$C/pc_gemm.cwd" --format folded >pc.folded
metric-eval export "$C/nvtx_user.cwd" --format folded | sed 's/^/within another: /'
metric-eval export "$C/nvtx_user.cwd" --format speedscope >user.json
metric-eval export "$C/gpus.cwd" --format speedscope >run.json
metric-eval export "$C/pc_gemm.cwd" --format speedscope >pc.json
metric-eval export "$C/gpus.cwd" --format prometheus >run.prom
python3 - <<'E2'
import csv, json, re
rows = list(csv.DictReader(open("run.csv", newline="")))
lines = [json.loads(line) for line in open("run.ndjson")]
print(list(rows[0]))
print("csv and ndjson agree:", len(rows), [float(r["value"]) for r in rows] == [l["value"] for l in lines],
      [r["nvtx"] for r in rows] == [l["nvtx"] for l in lines])
total = sum(l["value"] for l in lines if l["metric"] == "gpu__time_duration.sum")


def folded(path):
    return [(line.rsplit(" ", 1)[0].split(";"), int(line.rsplit(" ", 1)[1])) for line in open(path)]


stacks = folded("run.folded")
print("folded:", sum(weight for _, weight in stacks) == total, stacks[0], len(stacks) == len({tuple(s) for s, _ in stacks}))
samples = folded("pc.folded")
print("samples:", sum(weight for _, weight in samples), max(samples, key=lambda s: s[1]))
for name in "run.json", "pc.json", "user.json":
    d = json.load(open(name))
    frames = d["shared"]["frames"]
    for p in d["profiles"]:
        assert len(p["samples"]) == len(p["weights"]) and all(i < len(frames) for s in p["samples"] for i in s)
        print(name, p["name"], p["unit"], len(p["samples"]), abs(sum(p["weights"]) - p["endValue"]) < 1e-6, len(frames),
              p["endValue"] if name == "user.json" else "")
name, value = r"[a-zA-Z_:][a-zA-Z0-9_:]*", r"(?:[+-]Inf|NaN|[-+0-9.e]+)"
label = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"'
seen, typed = set(), []
for line in open("run.prom"):
    if line.startswith("# TYPE "):
        typed.append(re.fullmatch(rf"# TYPE ({name}) gauge\n", line)[1])
        continue
    series = re.fullmatch(rf"(({name})\{{{label}(?:,{label})*\}}) {value}\n", line)
    assert series and series[2] == typed[-1] and series[1] not in seen, line
    seen.add(series[1])
print("prometheus:", len(typed) == len(set(typed)), len(typed), len(seen))
E2
echo "== mistakes"
metric-eval export "$C/gpus.cwd"
metric-eval export "$C/gpus.cwd" --format yaml
metric-eval export "$C/gpus.cwd" --format folded --all
metric-eval export "$C/pm_gemm.cwd" --format folded 2>&1 | sed "s,$C/,,"
metric-eval export "$C/sass_gemm.cwd" --format speedscope 2>&1 | sed "s,$C/,,"
metric-eval export "$C/pc_gemm.cwd" --format prometheus 2>&1 | sed "s,$C/,,"
for option in "-m sm__inst_executed.sum" --all; do metric-eval export "$C/sass_gemm.cwd" --format csv $option 2>&1 | sed "s,$C/,,"; done
echo text >mine.txt; metric-eval export "$C/gpus.cwd" --format csv -o mine.txt; cat mine.txt
cp "$C/gpus.cwd" x.cwd; metric-eval export x.cwd --format csv -o x.cwd
for format in ndjson speedscope; do
    echo '{"name": "mine"}' >package.json; metric-eval export "$C/gpus.cwd" --format $format -o package.json; cat package.json
    for capture in gpus pc_gemm; do rm -f own; for i in 1 2; do metric-eval export "$C/$capture.cwd" --format $format -o own; done; done
done
for capture in pm_gemm sass_gemm; do rm -f own; for i in 1 2; do metric-eval export "$C/$capture.cwd" --format ndjson -o own; done; done
echo "== names that are empty"
printf '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"\n"0","1","a","h","","1","7","(1, 1, 1)","(1, 1, 1)","0","9.0","x","gpu__time_duration.sum","ns","105"\n' >unnamed.csv
for format in folded prometheus speedscope; do metric-eval export unnamed.csv --format $format 2>/dev/null | grep -e '^[^ ].* 105$' -e 'launches{' -e '"name": "('; done
metric-eval unnamed.csv -q 2>/dev/null
metric-eval unnamed.csv -q --csv - 2>/dev/null
python3 - >unnamed.json <<'E2'
import json
def event(category, start, duration, **args):
    gpu = category == "kernel"
    return {"ph": "X", "cat": category, "name": "", "pid": 1 - gpu, "tid": 7 if gpu else 1, "ts": start, "dur": duration, "args": args}
events = (event("user_annotation", 900, 500), event("cuda_runtime", 950, 5, correlation=1),
          event("kernel", 1000, 10, device=0, context=1, stream=7, correlation=1))
print(json.dumps({"baseTimeNanoseconds": 1743521598000000000, "traceEvents": events}))
E2
for by in kernel family nvtx call; do metric-eval unnamed.json -q --by $by | sed -n '$s/.*  /'$by': /p'; done
metric-eval unnamed.json -q | sed -n '/^Longest idle gaps/,/^$/s/.*  /then came: /p' | tail -n 2
metric-eval export unnamed.json --format chrome | grep -o '"cat": "[a-z_]*", "name": "[^"]*"'
metric-eval export unnamed.json --perfetto unnamed.pftrace; "$SOURCE/tests/support/read_perfetto" unnamed.pftrace --list | grep -o "begin .*: [a-z_]* '.*'"
