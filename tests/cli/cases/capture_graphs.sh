# Launches of CUDA graphs, on the simulated GPU: by batched replay each kernel is a range; as a whole they are one, without
# the counters that CUPTI counts by patching code.
metric-config --chip GH100 -m smsp__inst_executed.sum,gpu__time_duration.sum \
    -m smsp__sass_thread_inst_executed_op_fadd_pred_on.sum --no-native -o plan.cwc
cat >program <<'END'
exec >$COUNTERWORKS_SIM
echo launch gemm
echo push step; echo graph 12; echo launch gemm; echo push inner; echo graph 1; echo pop; echo pop
echo push quiet; echo launch add; echo pop
echo graph 3 a host node
echo launch gemm
END
ranges() { # name, range around it, graphs in it; of each metric whether there is a value
    capture-agent range -c plan.cwc -o run.cwd "$@" -- sh program || { echo "status $?"; return; }
    metric-eval run.cwd --json run.json >/dev/null
    python3 -c '
import json
for r in json.load(open("run.json"))["ranges"]:
    a = r["attributes"]
    print("  %s; nvtx %s; graphs %s; kernel %s;" % (r["name"], a.get("nvtx", "-"), a.get("graphs", "-"), a.get("graph_kernel", "-")), end=" ")
    print(", ".join("%s%s" % (m["status"], "" if m["value"] is None else " with a value") for m in r["metrics"]))'
    metric-eval show run.cwd | grep -E '^end'
}
for replay in batch application kernel; do echo $replay; ranges --replay $replay; done
echo whole; ranges --graphs whole
echo graphs alone; ranges --graphs whole --kernel '^graph'
echo some kernels of graphs; ranges --kernel '^node_[12]$' --launch-skip 1 --launch-count 3
capture-agent range -c plan.cwc -o run.cwd --graphs nodes --replay multiplex -- sh program 2>&1 | head -n 1
echo user ranges; ranges --ranges user --levels 2
# counters that stand in several passes, and what is computed from several: in a graph, what a launch has and it has not
metric-config --chip GH100 --set demo --no-native -o whole.cwc
echo 'exec >$COUNTERWORKS_SIM; echo launch gemm; echo graph 1' >program
capture-agent range -c whole.cwc -o whole.cwd --graphs whole -- sh program
metric-eval whole.cwd --json - | python3 -c '
import json, sys
launch, graph = json.load(sys.stdin)["ranges"]
for a, b in zip(launch["metrics"], graph["metrics"]):
    if (a["status"] == "not collected") != (b["status"] == "not collected"):
        print(a["name"])'
# nothing but a graph that cannot be launched again
echo 'echo graph 2 a host node >$COUNTERWORKS_SIM' >program; ranges
ranges --replay application
