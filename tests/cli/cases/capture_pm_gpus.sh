# PM sampling of several GPUs into one file, each with its own table; launches stand with the GPU that they ran on.
metric-config --chip GH100 --profiler pm --no-native -m sm__inst_executed_realtime.sum,sm__cycles_active.max -o plan.cwc
count() {
    metric-eval run.cwd --json - | python3 -c '
import collections, json, sys
all = json.load(sys.stdin)
counts = lambda what: dict(collections.Counter(x["device"] for x in all[what]))
print("samples", counts("samples"), "launches", counts("launches"), "dropped", all["capture"]["dropped"])'
}
capture-agent pm -c plan.cwc -o run.cwd --device 0,5 --sim-seed 7 --sim-drop 4 -- true
metric-eval run.cwd
count
echo the first GPU is as it is alone:
capture-agent pm -c plan.cwc -o alone.cwd --sim-seed 7 --sim-drop 4 -- true
metric-eval run.cwd --csv - | grep -E '^[0-9]+,0,' | cut -d , -f 2- >first
metric-eval alone.cwd --csv - | sed 1d | cut -d , -f 2- | cmp first - && echo the same
echo all GPUs of the node, and the times of each:
capture-agent pm -c plan.cwc -o run.cwd --device all --duration 0.004s
count
metric-eval run.cwd --json - | python3 -c '
import json, sys
times = {}
for sample in json.load(sys.stdin)["samples"]:
    times.setdefault(sample["device"], []).append(sample["start_ns"])
for device, starts in times.items():
    print("GPU", device, "in the order of time:", all(a < b for a, b in zip(starts, starts[1:])))'
echo a program that says what it launches, one GPU of which is not sampled:
cat >program <<'END'
exec >$COUNTERWORKS_SIM
echo launch a; echo device 1; echo launch b; echo device 2; echo launch c; echo device 1; echo launch d
END
capture-agent pm -c plan.cwc -o run.cwd --device 0,1 -- sh program
count
metric-eval run.cwd | tail -n 6
echo times that were not collected:
cat >program <<'END'
exec >$COUNTERWORKS_SIM
echo launch a; echo untimed b; echo untimed c; echo launch b
END
capture-agent pm -c plan.cwc -o run.cwd -- sh program
metric-eval show run.cwd | grep launches
metric-eval show run.cwd --format json | grep launches
metric-eval run.cwd | tail -n 6
metric-eval run.cwd --json - | python3 -c '
import json, sys
run = json.load(sys.stdin)
first = min(s["start_ns"] for s in run["samples"])
print([l["name"] for l in run["launches"]], all(l["start_ns"] >= first for l in run["launches"]))'
echo errors:
capture-agent pm -c plan.cwc -o none.cwd --device 64 -- true
capture-agent pm -c plan.cwc -o none.cwd --device '' -- true
