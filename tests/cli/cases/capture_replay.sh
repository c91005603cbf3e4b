# Application replay joins the runs of a program by name and occurrence, and says where they differ.
metric-config --chip GH100 -m sm__inst_executed.sum,dram__bytes_read.sum,lts__t_sector_hit_rate.pct \
    -m smsp__sass_thread_inst_executed_op_fadd_pred_on.sum --no-native -o plan.cwc
capture-agent range --sim-kernels 3 -c plan.cwc -o once.cwd --replay kernel -- true
capture-agent range --sim-kernels 3 -c plan.cwc -o runs.cwd --replay application -- sh -c 'echo run $COUNTERWORKS_SIM_RUN'
# the same numbers: every counter of this plan stands whole in some pass
for of in once runs; do metric-eval $of.cwd --tidy --csv - | columns range,name,kernel,metric,unit,value,status >$of; done; cmp once runs && echo the same values
cat >program <<'EOF'
exec >$COUNTERWORKS_SIM
echo launch gemm; echo launch add; echo launch gemm
[ $COUNTERWORKS_SIM_RUN = 1 ] || echo launch copy
[ $COUNTERWORKS_SIM_RUN = 2 ] || echo launch last
EOF
capture-agent range -c plan.cwc -o differ.cwd --replay application -- sh program
metric-eval differ.cwd --json - | python3 -c '
import json, sys
for r in json.load(sys.stdin)["ranges"]:
    print(r["name"], r["attributes"].get("runs", "in all"), sorted({m["status"] for m in r["metrics"]}))'
# counters whose raw counters no single pass holds
metric-config --chip GH100 -m sm__throughput.avg.pct_of_peak_sustained_elapsed,sm__inst_executed.sum --no-native -o wide.cwc
capture-agent range -c wide.cwc -o wide.cwd --replay application --sim-kernels 1 -- true 2>&1 | sed 's/([0-9 of]*)/(N of M)/'
metric-eval wide.cwd --tidy --csv - | columns name,value
# a program that fails is not run again; what the first run collected is kept
capture-agent range --sim-kernels 3 -c plan.cwc -o fails.cwd --replay application -- sh -c 'echo run $COUNTERWORKS_SIM_RUN; exit 3'
echo "status $?"
metric-eval show fails.cwd | grep -E "^(ranges|end)|incomplete"
# a counter that stands in several passes has a value of each: a value is computed within one pass
metric-config --chip GH100 --set demo --no-native -o whole.cwc
for replay in batch application kernel; do
    capture-agent range -c whole.cwc -o $replay.cwd --replay $replay --sim-kernels 2 -- true 2>/dev/null
    metric-eval $replay.cwd --json - >$replay.json
done
metric-eval merge batch.cwd batch.cwd -o merged.cwd
metric-eval merged.cwd --json - >merged.json
cat >print.py <<'EOF'
import json
def values(file, index=1):
    metrics = json.load(open(file + ".json"))["ranges"][index]["metrics"]
    return {m["name"]: (m["value"], m["status"]) for m in metrics}
def whole(file):
    return {n: v for n, v in values(file).items() if v[1] == "ok"}
print("the same whole values as by application replay:", whole("application").items() <= whole("batch").items())
print("more of them than by kernel replay:", len(whole("batch")) > len(whole("kernel")))
print("merged:", values("merged", 3) == values("batch"))
EOF
python3 print.py
metric-eval show batch.cwd | grep -c '^counters: .* of them whole in several'
metric-eval explain batch.cwd sm__cycles_elapsed.avg.per_second | tail -n +6 | head -4
# a program that cannot be run again: what the first run collected is kept
printf '#!/bin/sh\nrm once\n' >once; chmod +x once
capture-agent range --sim-kernels 3 -c plan.cwc -o once.cwd --replay application -- ./once; echo "status $?"
metric-eval show once.cwd 2>&1 | grep -E "^(ranges|end)|incomplete"
