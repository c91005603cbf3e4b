# Application replay joins the runs of a program by name and occurrence, and says where they differ.
metric-config --chip GH100 -m sm__inst_executed.sum,dram__bytes_read.sum,lts__t_sector_hit_rate.pct \
    -m smsp__sass_thread_inst_executed_op_fadd_pred_on.sum --no-native -o plan.cwc
capture-agent range -c plan.cwc -o once.cwd --replay kernel -- true
capture-agent range -c plan.cwc -o runs.cwd --replay application -- sh -c 'echo run $COUNTERWORKS_SIM_RUN'
# the same numbers: every counter of this plan stands whole in some pass
metric-eval once.cwd --csv - >a; metric-eval runs.cwd --csv - >b; cmp a b && echo the same values
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
metric-eval wide.cwd --csv - | cut -d, -f2,6
# a program that fails is not run again; what the first run collected is kept
capture-agent range -c plan.cwc -o fails.cwd --replay application -- sh -c 'echo run $COUNTERWORKS_SIM_RUN; exit 3'
echo "status $?"
metric-eval show fails.cwd | grep -E 'ranges|end'
