# What is in a set: by its file, and as a chip takes it. full has every metric of the sets for kernels.
read_json() { python3 -c "import json, sys; d = json.load(sys.stdin); $1"; }
metric-query sets | cut -c1-30
metric-query sets scheduler-stats
metric-query sets roofline | grep else | head -2
metric-query sets roofline --chip AD102 | grep -E "fp4|fp8" | cut -c1-100
metric-query sets demo --chip H200 | sed -n 2,3p
metric-query sets nosuch; echo "status $?"
metric-query sets --format json | read_json 'print(len(d), [s["name"] for s in d][:2], "metrics" in d[0])'
metric-query sets roofline --chip AD102 --format json | read_json '
print([m for m in d[0]["metrics"] if m["name"] is None][0], d[0]["metrics"][0])'
metric-query chips --format json | read_json 'print(len(d), d[0]["name"], d[0]["counters"] > 1000)'
for set in speed-of-light compute-workload memory-workload cache dram occupancy scheduler-stats warp-state instruction-mix roofline pcie-nvlink basic; do
    metric-query sets $set --format json
done | python3 -c '
import json, sys
text, names, at = sys.stdin.read(), set(), 0
while at < len(text.rstrip()):
    one, at = json.JSONDecoder().raw_decode(text, at)
    names |= {m["name"] for m in one[0]["metrics"]}
    at += len(text[at:]) - len(text[at:].lstrip())
print("\n".join(sorted(names)))' >union.txt
metric-query sets full --format json | read_json 'print("\n".join(sorted(m["name"] for m in d[0]["metrics"])))' | diff union.txt - && echo full is all of them
# lists of sets, each metric once
metric-config --chip GH100 --no-native --set scheduler-stats,dram -o two.cwc
metric-config --chip GH100 --no-native --set scheduler-stats --set dram -o same.cwc
cmp two.cwc same.cwc && echo the same plan
metric-config --chip GH100 --no-native --set basic,full -o all.cwc 2>/dev/null; echo "status $?"
metric-config --chip GH100 --no-native --set basic,nosuch -o none.cwc; echo "status $?"
metric-config --chip GH100 --no-native --set basic, -o none.cwc; echo "status $?"
