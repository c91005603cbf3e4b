# "-" is standard input and standard output wherever a command takes a file; a terminal gets no binary data.
capture=$SOURCE/data/captures/gemm.cwd
metric=sm__inst_executed.sum
echo == a pipeline without a file
echo $metric | metric-config --chip GH100 --no-native --metrics-file - -o - |
    capture-agent range --sim-kernels 3 --backend sim -c - -o run.cwd -- true
metric-eval - --tidy --csv - <run.cwd | columns range,name,kernel,metric,unit,value,status
metric-eval show - <run.cwd | grep -E "^(capture|ranges)"
metric-eval explain - $metric <run.cwd | head -2
metric-eval merge - -o - <run.cwd | metric-eval - -m $metric --json - | grep -c '"status": "ok"'
metric-eval diff - - <run.cwd; echo "status $?"
metric-eval advise - --with - <run.cwd; echo "status $?"
echo == HDF5
metric-eval - -m $metric -o - <run.cwd >run.h5; head -c 4 run.h5 | tail -c 3; echo
h5dump -d /range/value run.h5 | grep "(0,0)"
metric-eval - -m $metric -o - --csv - <run.cwd; echo "status $?"
metric-eval - -m $metric -o - <run.cwd >/dev/full; echo "status $?"
echo == samples of the device alone
metric-config --chip GH100 --no-native --profiler pm -m $metric -o - |
    capture-agent pm --backend sim -c - --duration 0.1 --sim-samples 4 -o - | metric-eval show - | grep -E "^(chip|samples)"
capture-agent range --sim-kernels 3 --backend sim -c plan.cwc -o - -- true; echo "status $?"
metric-config --chip GH100 --no-native -m $metric -o plan.cwc
capture-agent range --sim-kernels 3 --backend sim -c plan.cwc -o - -- true; echo "status $?"
metric-config --chip GH100 --no-native -m $metric -o - --explain 2>&1 | head -1
echo == data of ours
metric-query list --chip-file - <"$SOURCE/data/chips/gh100.yaml" | diff - <(metric-query list --chip GH100) && echo the same
printf 'schema: 1\nmetrics:\n  my_ipc: {formula: sm__inst_executed.sum / sm__cycles_active.sum}\n' >own.yaml
metric-eval "$capture" --metrics-db - -m my_ipc --tidy --csv - <own.yaml 2>&1 | columns metric,unit,value,status
metric-eval run.cwd --set - --tidy --csv - <<'EOF' | columns range,metric,unit,value,status | head -2
schema: 1
set: mine
title: One metric
metrics: [sm__inst_executed.avg]
EOF
metric-eval --check - "$capture" <"$SOURCE/data/captures/gemm.json"
echo == a terminal
terminal() { script -qec "$1" /dev/null </dev/null | tr -d '\r'; echo "status ${PIPESTATUS[0]}"; }
command -v script >/dev/null || exit 0
terminal "metric-config --chip GH100 --no-native -m $metric -o -"
terminal "metric-eval $capture -o -"
terminal "metric-eval merge run.cwd -o /dev/stdout"
terminal "metric-eval run.cwd --csv -" | head -1
