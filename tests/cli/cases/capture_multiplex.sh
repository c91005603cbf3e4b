# Multiplexing counts each launch in one pass; passes take turns over the launches of one kernel, grid and block.
metric-config --chip GH100 -m sm__inst_executed.sum,dram__bytes_read.sum,lts__t_sector_hit_rate.pct \
    -m smsp__sass_thread_inst_executed_op_fadd_pred_on.sum --no-native -o plan.cwc
cat >print.py <<'EOF'
import json, sys
for r in json.load(sys.stdin)["ranges"]:
    has = "".join("x" if m["value"] is not None else "-" for m in r["metrics"])
    print(r["name"], r["attributes"]["replay"], has, sorted({m["status"] for m in r["metrics"]}))
EOF
turns() { metric-eval "$1" --by range --json - | python3 print.py; }
capture-agent range -c plan.cwc -o run.cwd --replay multiplex --sim-kernels 12 -- true
metric-eval show run.cwd | grep -E "^(passes|ranges)"
turns run.cwd
echo "--- every second"
capture-agent range -c plan.cwc -o run.cwd --replay multiplex --every 2 --sim-kernels 12 --sim-loop 2 -- true
turns run.cwd
echo "--- user ranges, a graph, and two processes"
cat >program <<'EOF'
exec >$COUNTERWORKS_SIM
for step in 1 2 3; do echo push step; echo launch gemm; echo graph 3; echo pop; done
echo process 7 other; echo push step; echo launch gemm; echo pop
EOF
capture-agent range -c plan.cwc -o run.cwd --replay multiplex --ranges user -- sh program
turns run.cwd
capture-agent range -c plan.cwc -o run.cwd --replay multiplex -- sh program
turns run.cwd
echo "--- what cannot be"
capture-agent range -c plan.cwc -o run.cwd --every 2 -- true
capture-agent range -c plan.cwc -o run.cwd --replay multiplex --every 0 -- true
capture-agent range -c plan.cwc -o run.cwd --slowdown 5% -- true
capture-agent range -c plan.cwc -o run.cwd --replay multiplex --slowdown 5x -- true
capture-agent range -c plan.cwc -o run.cwd --replay multiplex --slowdown 0 -- true
capture-agent range -c plan.cwc -o run.cwd --replay multiplex --ranges user --levels 2 -- true
