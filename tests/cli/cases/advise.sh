# Advice by rules of this case alone, so that those that ship may change.
mkdir data rules
ln -s "$SOURCE"/data/{chips,sets,formulas,glossary.yaml,answers.yaml,products.yaml} data
export CW_DATA_DIR=$PWD/data
h200=$SOURCE/tests/advice/h200.cwd
echo "== no rules: time alone"
metric-eval advise "$h200" --top 1

cat >rules/common.yaml <<'END'
schema: 1
values:
  memory: l1tex__throughput.avg.pct_of_peak_sustained_elapsed / 100
  waits: smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio / smsp__average_warps_active_per_issue_active.ratio
  absent: smsp__no_such_counter.sum
tree:
  - id: roof
    title: A unit is busy all the time
    when: memory > 0.8
    value: memory
    then:
      - {id: l1, title: The first-level cache}
  - id: latency
    title: Warps wait
    value: 1 - memory
    then:
      - {id: loads, title: for loads from memory, when: waits > 0.5, value: waits}
END
cat >rules/rules.yaml <<'END'
schema: 1
rules:
  conflicts:
    title: Accesses to shared memory wait for one another
    when: [share > 0.3, memory > 0.5]
    gain: share
    bound: 0.15
    values:
      share: l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum / max(1, l1tex__data_pipe_lsu_wavefronts_mem_shared.sum)
    text: "{share:%} of {l1tex__data_pipe_lsu_wavefronts_mem_shared.sum} are repeats, in {duration}."
    fix: Pad the rows.
    evidence: [share, l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum, memory]
  loads:
    title: Loads depend on one another
    when: waits > 0.5
    gain: waits - 0.2
    refuted_by: memory > 0.6
    text: "A load makes warps wait {waits:%} of the time, {waits:x} of the rest."
    fix: Load earlier.
    stalls: [long_scoreboard]
  spills:
    title: Never known
    when: absent > 0
    gain: 1
    text: x
    fix: y
  registers:
    title: Not in this capture
    when: pcie__read_bytes.sum > 0
    gain: 1
    text: x
    fix: y
  busy:
    title: A unit is busy
    note: true
    when: memory > 0.8
    gain: 0
    text: Nothing but less work helps.
    fix: Do less.
END
cp rules/common.yaml data/limiter.yaml
mkdir data/rules
cp rules/rules.yaml data/rules
echo "== of its own folder"
metric-eval advise "$h200" --top 2
echo "== one kernel, by samples of an other program"
metric-eval advise "$h200" --range '^k33a' --with "$SOURCE/data/captures/pc_gemm.cwd"
echo "== as JSON"
metric-eval advise "$h200" --range '^k10' --format json
echo "== another threshold"
metric-eval advise "$h200" --range '^k10' --min-gain 90% --format json | grep -c '"rule"'
echo "== a plan"
metric-config --chip GH100 --for-advice --no-native --explain | head -30
echo "== lines"
cat >own.yaml <<'END'
schema: 1
rules:
  hot: {title: Hot lines, when: 1, gain: 0.5, text: x, fix: y, evidence: [duration]}
END
rm -r data/rules data/limiter.yaml
metric-eval advise "$SOURCE/data/captures/gemm.cwd" --rules own.yaml --with "$SOURCE/data/captures/pc_gemm.cwd"
metric-eval explain "$SOURCE/data/captures/gemm.cwd" rule.hot.gain --rules own.yaml | sed -n 2,3p
echo "== the gain that advice shows, where counters of the rule are missing"
CW_DATA_DIR="$SOURCE/data" metric-eval explain "$SOURCE/data/captures/gemm.cwd" small-grid | sed -n 2,4p
mkdir more && cp own.yaml more
metric-eval advise "$SOURCE/data/captures/gemm.cwd" --rules more --with "$SOURCE/data/captures/pc_gemm.cwd" --format json |
    python3 -c 'import json, sys; f = json.load(sys.stdin)["kernels"][0]["findings"][0]; print(f["rule"], f["gain"], f["speedup"], f["lines"][0])'
echo "== mistakes"
metric-eval advise "$SOURCE/data/captures/pm_gemm.cwd"
metric-eval advise "$SOURCE/data/captures/sass_gemm.cwd"
metric-eval advise "$SOURCE/data/captures/pc_gemm.cwd"
metric-eval advise "$h200" --with "$h200"
metric-eval advise "$h200" --range nothing
metric-eval advise "$h200" --min-gain 5
metric-eval advise "$h200" --format xml
metric-eval advise
sed 's/gain: 0.5/gain: 0.5 +/' own.yaml >wrong.yaml
metric-eval advise "$h200" --rules wrong.yaml
cp own.yaml more/twice.yaml
metric-eval advise "$h200" --rules more
metric-eval advise "$h200" --rules no-file
mkdir none
metric-eval advise "$h200" --rules none
echo "== in a window of so many columns"
cp "$h200" run.cwd # hints have the path as it is given
for columns in 80 100; do
    script -qec "stty cols $columns; metric-eval advise run.cwd --top 101 --rules rules" /dev/null </dev/null | tr -d '\r' |
        sed 's/\x1b\[[0-9]*m//g' | awk -v most=$columns '{ all++ } length > most { print length ": " $0 } END { print (all > 100) }'
done
metric-config --chip GH100 --rules own.yaml --explain -m sm__inst_executed.sum
# Kernels of one name differ by their shape, in CSV as well.
export CW_DATA_DIR=$SOURCE/data
echo "== quietly: findings alone"
metric-eval advise "$SOURCE/data/captures/transformer.cwd" --top 1 -q | head -n 7
metric-eval advise "$SOURCE/data/captures/transformer.cwd" --kernel unrolled_elementwise --top 1 -q | tail -n 2
metric-eval advise "$SOURCE/data/captures/transformer.cwd" -q -o kernels.csv
columns kernel,function,grid_x,grid_y,grid_z,block_x,block_y,block_z <kernels.csv | sort | uniq -d | wc -l
# Values of a rule stand in a formula without their scope.
for name in latncy no; do metric-eval explain "$SOURCE/data/captures/transformer.cwd" $name --range 99; done
metric-eval explain "$SOURCE/data/captures/transformer.cwd" roof --range 99 >explained
head -n 4 explained
# So do the limits and rules that advise names.
for name in latency tail-wave; do
    metric-eval explain "$SOURCE/data/captures/transformer.cwd" $name --range 99 >explained
    sed -n 2,4p explained
done
