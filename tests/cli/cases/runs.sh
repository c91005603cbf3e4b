# How many runs a side of diff and gate joins: one for each named file of which --rank and copies of traces leave something.
C=$SOURCE/data/captures
metric-config --chip GH100 -m gpu__time_duration.sum --no-native -o plan.cwc
capture-agent range -c plan.cwc --sim-processes 3 -o r.%r.cwd -- true
for rank in 0 1 2; do PMI_RANK=$rank PMI_SIZE=3 capture-agent trace --sim-processes 1 -q -o t.%r.cwd -- true; done
changes() { # each side's number of runs, and the change of time
    metric-eval diff --format json "$@" | python3 -c '
import json, sys
d = json.load(sys.stdin)
a, b = (sum(g[side]["time_ns"] for g in d["groups"] if g[side]) for side in "ab")
print(d["a"]["runs"], d["b"]["runs"], f"{b / a - 1:+.1%}")'
}
echo "== files, some with other ranks"
changes r.0.cwd r.1.cwd -- r.0.cwd
changes r.0.cwd r.1.cwd --rank 0 -- r.0.cwd
changes r.2.cwd --rank 0,2 -- r.0.cwd r.1.cwd r.2.cwd
metric-eval diff r.0.cwd r.1.cwd --rank 5 -- r.0.cwd
for i in 1 2 3; do cp r.0.cwd equal$i.cwd; done
metric-eval gate --learn equal?.cwd -o rules.yaml -q
metric-eval gate r.0.cwd r.1.cwd --rank 0 --rules rules.yaml -- r.0.cwd | head -n 1
echo "== a folder is one run, and a list as well"
mkdir job; cp r.*.cwd job; cp -r job again; printf '%s\n' r.0.cwd r.1.cwd >list
changes job again -- job
changes job r.2.cwd --rank 0 -- @list again
echo "== copies of a capture of ranges count each time, and copies of a trace once"
changes r.0.cwd -- r.0.cwd r.0.cwd
changes t.0.cwd -- t.0.cwd t.0.cwd
changes t.0.cwd t.1.cwd -- t.1.cwd t.0.cwd t.1.cwd
changes t.0.cwd t.1.cwd --rank 1 -- t.1.cwd
changes "$C/trace_train.cwd" -- "$C/trace_train.cwd" "$C/trace_train.cwd"
