# What a capture holds, and how a value came about, for programs.
read_json() { python3 -c "import json, sys; d = json.load(sys.stdin); $1"; }
cd "$SOURCE/data/captures"
metric-eval explain gemm.cwd lts__t_sector_hit_rate.pct --format json | read_json '
m = d["metrics"][0]; print(m["name"], m["value"], m["unit"], m["status"]); print(m["formula"]); print(m["numbers"])
for c in d["counters"]: print(c["name"], [(r["passes"], r["sum"], r["status"]) for r in c["recorded"]])'
metric-eval explain gemm.cwd sm__throughput.avg.pct_of_peak_sustained_elapsed --format json | read_json '
m = d["metrics"][0]; print(m["value"] == m["largest_of"][0]["value"], len(m["largest_of"]))'
metric-eval explain torch_steps.cwd sm__cycles_active.avg --format json | read_json '
m = d["metrics"][0]; print(m["value"], m["status"], m["lack"], d["counters"])'
for name in gemm pm_gemm pc_gemm sass_gemm; do
    metric-eval show $name.cwd --format json | read_json 'print(d["chip"], d["profiler"], d["ranges"], "pm" in d, d.get("instructions", {}).get("samples"))'
done
metric-eval show gemm.cwd --format xml
