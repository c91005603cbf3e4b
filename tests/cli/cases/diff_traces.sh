# What changed between two traces: what ran on the GPUs, what these waited for, NVTX ranges.
C=$SOURCE/data/captures
make() { "$BIN/make_trace" "$@"; }
fail() { "$@"; echo "status $?"; }
make a.cwd launches=2000
make b.cwd launches=2000 seed=3
make more.cwd launches=4000 seed=4
echo == the same, and runs that differ by chance
metric-eval diff a.cwd a.cwd
metric-eval diff a.cwd b.cwd | head -4
echo == one that does more, and another program
metric-eval diff a.cwd more.cwd --top 3
metric-eval diff a.cwd "$C/trace_kinds.cwd" --top 2 | tail -n +3
echo == some of it, by NVTX path, several a side
metric-eval diff a.cwd b.cwd --kernel softmax
metric-eval diff "$C/trace_train.cwd" "$C/trace_train.cwd" --range 'step [1-5]/backward' --by nvtx
metric-eval diff --top 2 a.cwd b.cwd -- more.cwd | tail -n +3
echo == JSON
metric-eval diff a.cwd more.cwd --format json >x.json
"$SOURCE/tests/support/follows_schema" "$SOURCE/data/schemas/diff.schema.json" <x.json
python3 -c '
import collections, json
d = json.load(open("x.json"))
print(d["by"], *(collections.Counter(g["match"] for g in d[name]) for name in ("groups", "nvtx")))
print(d["usage"]["b"])
gemm = d["groups"][0]
print(gemm["name"], gemm["time_change_ns"], gemm["b"]["time_ns"] - gemm["a"]["time_ns"], gemm["metrics"])'
echo == mistakes
fail metric-eval diff a.cwd "$C/gemm.cwd" 2>&1
fail metric-eval diff "$C/gemm.cwd" a.cwd 2>&1
fail metric-eval diff a.cwd b.cwd --all 2>&1
fail metric-eval diff a.cwd b.cwd -m time 2>&1
fail metric-eval diff a.cwd b.cwd --kernel nowhere 2>&1
fail metric-eval diff a.cwd b.cwd --range nowhere 2>&1
