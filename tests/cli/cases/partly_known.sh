# Launches without a time or without counters are in no total and no mean: the outputs for people say of how many these are.
cat >make.py <<'END'
import os, sys
sys.path.insert(0, os.environ["SOURCE"] + "/tests/attacks")
sys.dont_write_bytecode = True
from make_attacks import *
START = 1700000000_000000000
lacks = u8(0)
def good(v): return u8(3) + f64(v)
def overflow(v): return u8(5) + f64(v) * 4
def launch(name, time, instructions):
    return chunk("RNGE", one_range(name, name, (time, instructions), start=START, end=START + 5000))
def write(file, *launches):
    counters = (TIME, ("sm__inst_executed", 1, [0]))
    names = ("gpu__time_duration.sum", "sm__inst_executed.sum")
    open(file, "wb").write(header(DATA) + chunk("SCHM", schema(counters, names)) + chunk("DEVC", device(facts=2)) +
                           b"".join(launches) + end(len(launches)))
fine = launch("fine", good(1000), good(5e5))
write("all.cwd", fine, fine, launch("gemm", good(2000), good(1e6)))
write("timed.cwd", launch("gemm", good(1000), good(1e6)), launch("gemm", overflow(9e9), good(1e6)), launch("gemm", good(1000), good(1e6)), fine)
write("used.cwd", *[launch("gemm", good(1000), good(1e6 + i) if i % 50 == 0 else lacks) for i in range(100)], fine)
write("untimed.cwd", launch("gemm", overflow(9e9), good(1e6)), launch("gemm", overflow(9e9), good(1e6)))
write("many.cwd", *[launch(f"gemm_{i // 2}", overflow(9e9) if i % 2 else good(1e6 - i), good(7) if i % 2 else lacks) for i in range(12)])
for rank, gemm in enumerate((good(2000), good(4000), overflow(9e9))):
    of = chunk("RATT", pairs([("rank", str(rank)), ("ranks", "3")]), True)
    write(f"rank{rank}.cwd", of + launch("gemm", gemm, good(1e6)), of + launch("never", overflow(9e9), good(1e6)))
for rank, (gemm, wait) in enumerate(((2000, good(1000)), (2010, good(1010)), (2005, good(1005)), (2300, overflow(9e9)))):
    of = chunk("RATT", pairs([("rank", str(rank)), ("ranks", "4")]), True)
    write(f"wait{rank}.cwd", of + launch("gemm", good(gemm), good(1e6)), of + launch("ncclDevKernel_AllReduce", wait, good(1e6)),
          of + launch("ncclDevKernel_AllReduce", good(500), good(1e6)))
    write(f"none{rank}.cwd", of + launch("gemm", good(gemm), good(1e6)), of + launch("ncclDevKernel_AllReduce", wait, good(1e6)))
write("all_counted.cwd", launch("gemm", good(2000), good(1e6)), fine)
write("half_counted.cwd", launch("gemm", good(2000), lacks), fine)
END
python3 make.py || exit 77
for file in all timed used many; do
    echo "== $file"
    metric-eval $file.cwd; echo; metric-eval $file.cwd -m sm__inst_executed.sum | sed 1,3d
done
echo "== one in full"
metric-eval timed.cwd --kernel gemm -m sm__inst_executed.sum; metric-eval used.cwd --kernel gemm -m sm__inst_executed.sum
echo "== quiet"
metric-eval -q used.cwd -m sm__inst_executed.sum
echo "== exports"
for file in all timed untimed; do
    for format in folded speedscope prometheus; do
        echo "-- $file: $format"
        metric-eval export $file.cwd --format $format -o $file.$format
    done
done
cat timed.folded; grep -h -e ^counterworks_launches -e ^counterworks_time_seconds timed.prometheus | sed "s,{.*},,"
ls untimed.*
echo "== ranks and kernels of a job whose time is not known: no 0 ns"
metric-eval ranks rank?.cwd -m sm__inst_executed.sum --json job.json -o report.html | sed 's/ *$//'
python3 - <<'END'
import json
job = json.load(open("job.json"))
print([(r["rank"], r["total_ns"], r["waiting_ns"]) for r in job["ranks"]], [(k["kernel"], k["total_ns"]) for k in job["kernels"]])
END
grep -o '"untimed":[0-9]*' report.html
echo "== nobody waits less because the time of waiting is not known"
for files in wait none; do
    metric-eval ranks $files?.cwd -m sm__inst_executed.sum --json job.json >wrote
    metric-eval ranks $files?.cwd -m sm__inst_executed.sum | sed -n '/^Slow ranks/,$p'
    python3 -c 'import json; print([(r["total_ns"], r["waiting_ns"]) for r in json.load(open("job.json"))["ranks"]])'
done
echo "== a count that one side alone has cannot be judged"
for sides in "all half" "half all" "half half"; do
    # shellcheck disable=SC2086
    metric-eval diff $(printf '%s_counted.cwd ' $sides) -m sm__inst_executed.sum | sed -n '3,4p;/inst_executed/p'
done
