# One of something, kernels of 0 ns, and quotients by zero.
cat >make.py <<'END'
import os, sys
sys.path.insert(0, os.environ["SOURCE"] + "/tests/attacks")
sys.dont_write_bytecode = True
from make_attacks import *
def good(v): return u8(3) + f64(v)
def launch(name, time, instructions, rank=None):
    about = chunk("RATT", pairs([("rank", rank), ("ranks", "1")]), True) if rank is not None else b""
    return about + chunk("RNGE", one_range(name, name, (good(time), good(instructions)), durations=(float("nan"),), start=0, end=0))
def write(file, *launches):
    counters = (TIME, ("sm__inst_executed", 1, [0]))
    names = ("gpu__time_duration.sum", "sm__inst_executed.sum")
    open(file, "wb").write(header(DATA) + chunk("SCHM", schema(counters, names)) + chunk("DEVC", device(facts=2)) +
                           b"".join(launches) + end(len(launches)))
write("zero.cwd", launch("none", 0, 0), launch("none", 0, 0))
write("quotient.cwd", launch("with", 1000, 500), launch("without", 3000, 0))
write("rank.cwd", launch("only", 1000, 1, "0"), launch("other", 1000, 1))
END
python3 make.py || exit 77
echo "== 0 ns"; metric-eval zero.cwd --wide -m sm__inst_executed.sum
for condition in 'total / sm__inst_executed.sum > 1' 'total / sm__inst_executed.sum != 1' 'max(total / sm__inst_executed.sum, 1) > 0' \
    'if(sm__inst_executed.sum == 0, 7, total / sm__inst_executed.sum) == 7' '-(total / sm__inst_executed.sum) < 0'; do
    echo "== $condition"
    metric-eval quotient.cwd -m sm__inst_executed.sum --filter "$condition" | grep -E 'filter|with'
done
echo "== one"; metric-eval ranks rank.cwd 2>&1 | sed -n 1,3p
