# A program finds under the agent as much as alone: descriptors, signals, limits, environment, folder. Only the pipe of
# the simulated GPU is there besides.
command -v guest >/dev/null || exit 77 # built with headers of CUPTI, and without sanitizers
metric-config --chip GH100 -m sm__inst_executed.sum --no-native -o plan.cwc
agents=("range --sim-kernels 1 -c $PWD/plan.cwc" trace pc)
mkdir folder
cd folder
ulimit -S -n 500
run() { env -i PATH="$PATH" TMPDIR="$PWD" COUNTERWORKS_BACKEND=sim "$@" </dev/null 2>&1; }
for name in plain change itself fork rights; do
    run guest $name >../alone; alone=$?
    for agent in "${agents[@]}"; do
        pipe=$(run capture-agent $agent -o ../run.cwd -- sh -c 'basename $COUNTERWORKS_SIM')
        run capture-agent $agent -o ../run.cwd -- guest $name >../under
        echo "$name, ${agent%% *}: $alone, $?"
        sed "/^capture-agent:/d; /^descriptors/s/ ${pipe%%$'\n'*} (0)//" ../under | diff ../alone -
    done
done
ls
