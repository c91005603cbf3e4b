# What changed between two captures: what they are of, time, kernels, metrics beyond their spread.
C=$SOURCE/data/captures vary=$BIN/../tests/vary_capture
cd "$C" || exit
echo "== the same"
metric-eval diff gpus.cwd gpus.cwd
echo "== one device and another"
metric-eval diff h200_stream.cwd stream.cwd --top 1 -m smsp__inst_executed.sum,dram__bytes_read.sum
cd "$OLDPWD" || exit
echo "== one count of one kernel, and launches that differ from one another"
$vary a.cwd 1 same '' 1 0 "$C/gpus.cwd"
$vary b.cwd 1 same sm__inst_executed 1.01 0 a.cwd
metric-eval diff a.cwd b.cwd --all | sed 's/[^ ]*\.cwd/FILE/' | cut -c1-60
echo "== added and gone, by NVTX path"
metric-eval diff "$C/nvtx_runs.cwd" "$C/nvtx_levels.cwd" --by nvtx -m gpu__time_duration.sum | sed 1,2d
echo "== user ranges are no kernels"
(cd "$C" && metric-eval diff nvtx_user.cwd nvtx_levels.cwd -m gpu__time_duration.sum --top 2; metric-eval diff nvtx_user.cwd nvtx_user.cwd
    metric-eval diff nvtx_levels.cwd nvtx_levels.cwd | sed -n 3p)
echo "== three runs and two"
(cd "$C" && metric-eval diff runs_[123].cwd -m gpu__time_duration.sum --top 1 -- runs_[45].cwd)
metric-eval diff -m sm__inst_executed.sum "$C"/gpus.cwd "$C"/gpus.cwd -- "$C"/gpus.cwd | sed '1,2d'
echo "== JSON"
for b in stream multi h200_stream; do
    metric-eval diff "$C/h200_stream.cwd" "$C/$b.cwd" --format json >x.json
    "$SOURCE/tests/support/follows_schema" "$SOURCE/data/schemas/diff.schema.json" <x.json
    python3 -c '
import collections, json
d = json.load(open("x.json"))
print(collections.Counter(g["match"] for g in d["groups"]), len(d["differences"]),
      sum(m["changed"] for g in d["groups"] for m in g.get("metrics", [])) > 0)'
done
echo "== identifiers are no quantities"
metric-eval diff "$C/gemm.cwd" "$C/h200_gemm.cwd" -m launch__context_id,launch__stream_id,launch__device_id,launch__grid_size --format json | grep -o 'launch__[a-z_]*'
echo "== tables"
metric-eval diff "$C/h200_stream.cwd" "$C/stream.cwd" -o d.csv -o d.h5 -o d.json -o d.txt
head -n 2 d.csv
metric-eval diff "$C/h200_stream.cwd" "$C/stream.cwd" --format csv | cmp - d.csv && metric-eval diff "$C/h200_stream.cwd" "$C/stream.cwd" | cmp - d.txt
echo "== quietly"
metric-eval diff "$C/runs_1.cwd" "$C/runs_6.cwd" --top 2 -q
metric-eval diff "$C/h200_stream.cwd" "$C/stream.cwd" -q | head -n 3
/usr/bin/python3 -c '
import h5py, json
d, f = json.load(open("d.json")), h5py.File("d.h5")
metrics = [(m["name"], m["a"], m["b"], m["a_status"]) for g in d["groups"] for m in g.get("metrics", [])]
number = lambda v: None if v != v else v
change = f["change"]
rows = [(m.decode(), number(a), number(b), s.decode()) for m, a, b, s in zip(*(change[n][:] for n in ("metric", "a", "b", "a_status")))]
print(len(rows) > 100, rows == metrics, [g["match"] for g in d["groups"]] == [m.decode() for m in f["group/match"]])'
metric-eval diff "$C/trace_train.cwd" "$C/trace_train.cwd" -o t.h5 && h5ls t.h5 | cut -d ' ' -f 1
echo "== a shape that changed"
metric-eval diff "$C/multi.cwd" "$C/cupti12.cwd" -m sm__inst_executed.sum --format json | python3 -c '
import collections, json, sys
print(collections.Counter(g["match"] for g in json.load(sys.stdin)["groups"]))'
echo "== mistakes"
metric-eval diff "$C/gpus.cwd"
metric-eval diff "$C/gpus.cwd" "$C/pm_gpus.cwd" 2>&1 | sed 's/:.*: /: /'
metric-eval diff "$C/gpus.cwd" none.cwd
echo == a metric that a side did not count is not said to be the same
for metric in sm__inst_executed.sum dram__bytes.sum; do
    metric-config --chip GH100 -m $metric --no-native -o one.cwc
    capture-agent range -c one.cwc -o ${metric%%__*}.cwd --sim-kernels 2 -- true
done
for side in sm dram; do metric-eval diff sm.cwd $side.cwd -m sm__inst_executed.sum,dram__bytes.sum,dram__bytes_read.sum | sed -n '3,/^$/p'; done
echo == values in doubt come last, and are marked
metric-eval diff "$C/runs_1.cwd" "$C/runs_6.cwd" --top 3 | sed -n '/exchanges/,$p'
echo == another chip is told once
for chip in GA100 GH100; do
    metric-config --chip $chip -m sm__inst_executed.sum --no-native -o $chip.cwc
    capture-agent range -c $chip.cwc -o $chip.cwd -- true
done
metric-eval diff GA100.cwd GH100.cwd | grep -A2 'not alike'
echo "== names have the room of a wide terminal, which seldom says so in COLUMNS"
cd "$C" && env -u COLUMNS script -qec "stty cols 150; metric-eval diff gemm.cwd h200_gemm.cwd --all" /dev/null </dev/null | tr -d '\r' |
    awk 'length > 100 { wide++ } length > 150 { print } END { print (wide > 0) }'
