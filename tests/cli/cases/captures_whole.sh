# Captures of all ratios on an H100, by a plan whose counters stand in several passes: each ratio that fits one pass is
# computed from one. The first workload reads and writes exactly 4 and 16 sectors a request.
cat >print.py <<'EOP'
import collections, json, sys
over, statuses = [], collections.Counter()
for r in json.load(sys.stdin)["ranges"]:
    for m in r["metrics"]:
        statuses[m["status"]] += 1
        if "hit_rate" in m["name"] and isinstance(m["value"], float) and m["value"] > 100:
            over.append((m["name"], round(m["value"], 4), m["status"]))
print(dict(sorted(statuses.items())))
for o in over:
    print("above 100 %:", *o)
EOP
for name in whole_stream whole_spmv; do
    echo "== $name"
    metric-eval show "$SOURCE/data/captures/$name.cwd" | grep -E '^(passes|counters|metrics|ranges|end)'
    metric-eval "$SOURCE/data/captures/$name.cwd" --json - | python3 print.py
done
metric-eval "$SOURCE/data/captures/whole_stream.cwd" --tidy --csv - -m \
    l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio,l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio |
    columns name,kernel,metric,unit,value,status
metric-eval explain "$SOURCE/data/captures/whole_spmv.cwd" l1tex__t_sector_hit_rate.ratio
