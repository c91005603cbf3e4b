# Runs whose captures are of other launches, limits by a floor alone, and values that are not judged.
metric-config --chip GH100 -m sm__inst_executed.sum,gpu__time_duration.sum -o plan.cwc
capture() { # FILE OPTION...
    capture-agent range --backend sim -c plan.cwc -o "$1" --force -q --sim-processes 1 --sim-kernels 40 --sim-loop 4 \
        --sim-seed 1 "${@:2}" -- true
}
capture all.cwd
capture few.cwd --launch-count 8
capture first.cwd --launch-count 20
capture later.cwd --launch-skip 2 --launch-count 20
capture lost.cwd --sim-drop 8
cp all.cwd all_2.cwd; cp all.cwd all_3.cwd
metric-eval gate --learn all.cwd all_2.cwd all_3.cwd -o rules.yaml --force
for runs in "all few" "few all" "first later" "all lost" "lost lost"; do
    set -- $runs
    metric-eval gate "$1.cwd" "$2.cwd" --rules rules.yaml 2>/dev/null >judged
    echo "$runs: $?"
    head -n 3 judged
done
metric-eval gate --learn all.cwd few.cwd all_2.cwd -o other.yaml
for command in table advise "diff all.cwd" "export --format prometheus"; do
    counterworks $command lost.cwd 2>&1 >/dev/null | grep collected
done

captures=$SOURCE/data/captures
rules() { # LIMITS-OF-TIME
    printf 'schema: 1\nchip: GH100\nmetrics:\n  launches: {better: less, noise: 0}\n  time: {better: less, %s}\n' "$1" >own.yaml
}
rules 'noise: 0, floor: 1000000'
metric-eval gate "$captures/runs_1.cwd" "$captures/runs_6.cwd" --rules own.yaml 2>/dev/null | head -n 1
rules 'noise: 0'
metric-eval gate "$captures/runs_1.cwd" "$captures/runs_6.cwd" --rules own.yaml 2>/dev/null | head -n 1
rules 'noise: 1.2'
metric-eval gate "$captures"/runs_[123].cwd --rules own.yaml -- "$captures"/runs_[456].cwd | head -n 3
