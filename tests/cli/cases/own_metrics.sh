# Users' own metrics by formula: listed, described, planned, captured on the simulated GPU, evaluated and explained.
cat >own.yaml <<'END'
schema: 1
metrics:
  my_ipc:
    formula: sm__inst_executed.sum / sm__cycles_active.sum
    unit: instructions/cycle
    description: Instructions that an SM executes in an active cycle
  dram_bytes_per_ffma: {formula: "dram__bytes.sum / max(1, 2 * smsp__sass_thread_inst_executed_op_ffma_pred_on.sum)"}
  board_bandwidth: {formula: 3.35e12, unit: bytes/s, description: From the data sheet}
  bandwidth_share: {formula: "dram__bytes.sum.per_second / board_bandwidth"}
END
metric-query list --chip GH100 --metrics-db own.yaml --type formula | grep -v __.*formula
metric-query list --chip GH100 --metrics-db own.yaml --search my_ipc --format csv
metric-query describe --chip GH100 --metrics-db own.yaml my_ipc | grep -v 0x
metric-config --chip GH100 --metrics-db own.yaml -m my_ipc,bandwidth_share,sm__inst_executed.sum --no-native -o plan.cwc --explain | tail -3
capture-agent range -c plan.cwc -o run.cwd --sim-seed 7 --sim-kernels 2 -- true
metric-eval run.cwd --metrics-db own.yaml --wide | sed 's/process [0-9]*/process N/'
metric-eval run.cwd --metrics-db own.yaml --tidy --csv - | columns range,metric,unit,value,status
metric-eval run.cwd --metrics-db own.yaml -m my_ipc,dram_bytes_per_ffma --json - | grep -E '"name": "(my_ipc|dram)'
metric-eval run.cwd --metrics-db own.yaml -o run.h5 >/dev/null && h5dump -d /range/type run.h5 | grep formula
metric-eval run.cwd --metrics-db own.yaml --all --tidy --csv - | grep -c my_ipc
metric-eval explain run.cwd bandwidth_share --metrics-db own.yaml --range 1
metric-eval explain run.cwd sm__inst_executed.avg.per_cycle_active
fail() { "$@"; echo "status $?"; }
fail metric-eval run.cwd --csv -
fail metric-eval explain run.cwd my_ipc
fail metric-eval explain run.cwd my_ipc --metrics-db own.yaml --range 2
printf 'schema: 1\nmetrics:\n  m: {formula: "dram__bytes.sum + sm__inst_executed.sum"}\n' >units.yaml
fail metric-config --chip GH100 --metrics-db units.yaml -m m -o bad.cwc
printf 'schema: 1\nmetrics:\n  m: {formula: dram__byte.sum}\n' >unknown.yaml
fail metric-query list --chip GH100 --metrics-db unknown.yaml
printf 'schema: 1\nmetrics:\n  a: {formula: 2 * b}\n  b: {formula: a}\n' >cycle.yaml
fail metric-query describe --chip GH100 --metrics-db cycle.yaml a
fail metric-eval run.cwd --metrics-db own.yaml --metrics-db own.yaml
echo == what has no description has no line of it
printf 'schema: 1\nmetrics:\n  half: {formula: sm__inst_executed.sum / 2}\n' >half.yaml
metric-query describe --chip GH100 --metrics-db half.yaml half | head -n 3
echo "== a label may be a short unit of ours, which is not the unit"
printf 'schema: 1\nmetrics:\n  a__ns: {formula: gpu__time_duration.sum * 10, unit: ns}\n  b__nanoseconds: {formula: gpu__time_duration.sum * 10, unit: nanoseconds}\n  c__ms: {formula: gpu__time_duration.sum / 1e6, unit: ms}\n' >times.yaml
metric-eval "$SOURCE/data/captures/nvtx_runs.cwd" --metrics-db times.yaml -m a__ns,b__nanoseconds,c__ms -q --top 1
