# Values that overflowed or are incomplete are numbers that say nothing: comparisons mark them and judge nothing by them.
cat >make.py <<'END'
import os, sys
sys.path.insert(0, os.environ["SOURCE"] + "/tests/attacks")
sys.dont_write_bytecode = True
from make_attacks import *
START = 1700000000_000000000
def good(v): return u8(3) + f64(v)
def overflow(v): return u8(5) + f64(v) * 4
def incomplete(v): return u8(7) + f64(v) * 4
def launch(name, time, instructions, rank=None):
    about = chunk("RATT", pairs([("rank", rank), ("ranks", "8")]), True) if rank is not None else b""
    return about + chunk("RNGE", one_range(name, name, (time, instructions), start=START, end=START + 5))
def write(file, *launches):
    counters = (TIME, ("sm__inst_executed", 1, [0]))
    names = ("gpu__time_duration.sum", "sm__inst_executed.sum")
    open(file, "wb").write(header(DATA) + chunk("SCHM", schema(counters, names)) + chunk("DEVC", device(facts=2)) +
                           b"".join(launches) + end(len(launches)))
fine = launch("fine", good(1000), good(5e5))
write("good.cwd", launch("gemm", good(1000), good(1e6)), fine)
write("same.cwd", launch("gemm", good(1000), overflow(1e6)), fine)
write("over.cwd", launch("gemm", overflow(500), overflow(3)), fine)
write("half.cwd", launch("gemm", incomplete(500), good(1e6)), fine)
write("also.cwd", launch("gemm", good(2000), overflow(3)), fine)
os.mkdir("job")
for r in range(8):
    write(f"job/{r}.cwd", launch("gemm", incomplete(9e6) if r == 3 else good(1000), overflow(7) if r in (2, 5) else good(1e6 + r), str(r)))
for name, rank in ("abc", "abc"), ("empty", ""), ("x3", "3x"), ("negative", "-1"), ("large", str(2**64)), ("r0", "0"):
    write(f"rank_{name}.cwd", launch("a", good(100), good(1), rank), launch("b", good(50), good(1), rank))
END
python3 make.py || exit 77
for other in same over half also; do
    echo "== $other"
    metric-eval diff good.cwd $other.cwd | sed 1,2d
    metric-eval diff good.cwd $other.cwd --format json >diff.json
    python3 - <<'END'
import json
try:
    import jsonschema, os
    jsonschema.validate(json.load(open("diff.json")), json.load(open(os.environ["SOURCE"] + "/data/schemas/diff.schema.json")))
except ImportError:
    pass
for g in json.load(open("diff.json"))["groups"]:
    t = g["launch_ns"]
    print(g["name"], "time", t["changed"], t["judged"], *((m["name"], m["changed"], m["judged"], m["a_status"], m["b_status"]) for m in g["metrics"]))
END
done
echo "== ranks"
metric-eval ranks job
metric-eval ranks job --json - | python3 -c 'import json, sys; k = json.load(sys.stdin)["kernels"][0]; print(k["left_out"], k["least"], k["greatest"], k["time_greatest_ns"])'
metric-eval ranks job -o ranks.h5 >/dev/null; h5dump -d /kernel/left_out -y ranks.h5 | grep -m 1 -A1 'DATA {'
echo "== prometheus"
metric-eval export over.cwd --format prometheus | grep -E 'gemm.*status|fine|time_sec'
echo "== a rank that is no number is no rank"
for name in abc empty x3 negative large; do
    metric-eval rank_r0.cwd rank_$name.cwd --by rank -m sm__inst_executed.sum | grep -oE '\(no rank\)|rank [0-9]+' | tr '\n' ' '
    metric-eval ranks rank_r0.cwd rank_$name.cwd | sed -n 3p
    metric-eval ranks rank_$name.cwd
    metric-eval rank_r0.cwd rank_$name.cwd --rank 0,3 --csv - -m sm__inst_executed.sum | cut -d, -f2 | tr '\n' ' '; echo
done
echo == a time that was collected on one side alone
sed 's,"2\.5","n/a",' "$SOURCE/tests/foreign/ncu_raw.csv" >untimed.csv
metric-eval diff "$SOURCE/tests/foreign/ncu_raw.csv" untimed.csv 2>/dev/null | sed -n '4p;/ change /,/fill/p'
grep -v gpu__time_duration "$SOURCE/tests/foreign/ncu_metrics.csv" >counts.csv
metric-eval diff counts.csv counts.csv | grep -e ^time -e 'did not change'
for command in table advise; do
    counterworks $command untimed.csv 2>/dev/null | grep 'timed in'
done
