# Values that nobody can have: shares of more than the whole and negative counts are marked in every output, and lead no order; no value is infinite.
captures=$SOURCE/data/captures
echo == a table, and its legend
metric-eval "$captures/gemm.cwd" -m lts__t_sector_hit_rate.pct,sm__cycles_elapsed.avg.pct_of_peak_sustained_active
echo == nothing of all is infinite, and no share beyond the whole or below 0 is ok
for capture in all_atomics gemm constant; do
    metric-eval "$captures/$capture.cwd" --all --tidy --csv $capture.csv >/dev/null
    python3 - $capture.csv <<'END'
import collections, csv, math, sys
statuses, frames, shares, negative = [collections.Counter() for _ in range(4)]
for row in csv.DictReader(open(sys.argv[1])):
    value, status, name = float(row["value"]), row["status"], row["metric"]
    assert not math.isinf(value), row
    if name.endswith(("_frame", "_region", "_frame.per_second", "_region.per_second")):
        frames[status] += 1
    if name.endswith((".avg.pct_of_peak_sustained_elapsed", ".sum.pct_of_peak_sustained_elapsed", "hit_rate.pct")) and value > 100.5:
        shares[status] += 1
    if value < -1e-12 and not name.startswith("launch__"):
        negative[status] += 1
    statuses[status] += 1
print(*sorted(statuses), sep=", ")
print("frames and regions:", *frames, "; beyond the whole:", *shares, "; negative:", *negative)
END
done
columns metric,unit,value,status <all_atomics.csv | grep '12032000,' | head -n 1
echo == it leads no order
metric-eval "$captures/all_atomics.cwd" --sort lts__t_sector_op_write_hit_rate.pct -m lts__t_sector_op_write_hit_rate.pct --csv - --by kernel |
    cut -d, -f 1,3- | grep hit_rate
metric-eval "$captures/all_atomics.cwd" --quiet --sort lts__t_sector_op_write_hit_rate.pct:asc -m lts__t_sector_op_write_hit_rate.pct
echo == JSON, HDF5 and explain
metric-eval "$captures/gemm.cwd" -m lts__t_sector_hit_rate.pct --json gemm.json -o gemm.h5 >/dev/null
metric-eval export "$captures/gemm.cwd" -m lts__t_sector_hit_rate.pct --format ndjson | grep -o '"status": *"[a-z ]*"'
python3 -c 'import json; print(json.load(open("gemm.json"))["ranges"][0]["metrics"])'
h5dump -d /range/status gemm.h5 | grep -E 'implausible|\(0,0\)'
metric-eval explain "$captures/gemm.cwd" lts__t_sector_hit_rate.pct | sed -n 2p
echo == what was not checked is said first
metric-eval advise "$captures/stream.cwd" | sed -n 3,6p
metric-eval advise "$captures/once_ipc.cwd" --format json | python3 -c 'import json, sys
for k in json.load(sys.stdin)["kernels"]: print(k["kernel"][:12], k["grid"], [(f["rule"], f["confidence"], f["doubt"]) for f in k["findings"]])'
