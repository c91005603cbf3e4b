# The rank of a process is that of the innermost launcher: srun with a torchrun on each of two nodes, with the agent in
# each worker and around each torchrun. Captures say how many ranks there are, so readers say which are missing.
metric-config --chip GH100 -m sm__inst_executed.sum,gpu__time_duration.sum --no-native -o plan.cwc
metric-config --chip GH100 --profiler pm -m sm__inst_executed.sum --no-native -o pm.cwc
step() { # NODE COMMAND...: a task of srun, one on each node
    local node=$1; shift
    env SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID="$node" SLURM_NTASKS=2 SLURM_STEP_NUM_TASKS=2 "$@"
}
torchrun() { # NODE COMMAND...: its two workers
    local node=$1 worker; shift
    for worker in 0 1; do
        step "$node" env RANK=$((2 * node + worker)) LOCAL_RANK=$worker WORLD_SIZE=4 TORCHELASTIC_RUN_ID=none "$@"
    done
}
printf 'exec >$COUNTERWORKS_SIM\n' >workers
for worker in 0 1; do
    printf 'echo process $((40 + 2 * SLURM_PROCID + %s)) worker $((2 * SLURM_PROCID + %s)) 4; echo device %s 0000:0%s:00.0; echo launch a\n' $worker $worker $worker $worker
done >>workers
echo == an agent in each worker
mkdir in
for node in 0 1; do torchrun $node capture-agent range -q --sim-kernels 2 -c plan.cwc -o 'in/r%r.cwd' -- true; done
ls in; metric-eval ranks in | head -2
echo == an agent around each torchrun
mkdir around
for node in 0 1; do step $node capture-agent range -q -c plan.cwc -o 'around/r%r.cwd' -- sh workers; done
ls around; metric-eval ranks around | head -2
mkdir traces; for node in 0 1; do step $node capture-agent trace -q -o 'traces/r%r.cwd' -- sh workers; done; ls traces
metric-eval traces --by rank | grep -o 'rank [0-9].*'
echo == every way to collect
for way in 'range --sim-kernels 1 -c plan.cwc' 'pm -c pm.cwc' pc 'sass -m smsp__sass_inst_executed' 'trace --sim-processes 1'; do
    torchrun 1 capture-agent $way -q -o 'way%r.cwd' -- true
    metric-eval show way2.cwd | grep -oE '^ranks?: .*|  ranks?: .*|rank [0-9], ranks [0-9]' | tr -s ' \n' ' '; echo "in ${way%% *}"
    rm way2.cwd
done
echo == ranks that are missing
rm in/r2.cwd traces/r0.cwd traces/r3.cwd
metric-eval ranks in | sed -n 2,3p
metric-eval ranks in --json - | python3 -c 'import json, sys; print(json.load(sys.stdin)["missing_ranks"])'
metric-eval ranks in --rank 0-1 | sed -n 2,3p
metric-eval ranks in -q | grep -c missing
metric-eval merge in -o all.cwd; metric-eval show all.cwd | grep ^rank; metric-eval show in/r3.cwd | grep ^rank
metric-eval merge traces -o trace.cwd; metric-eval show trace.cwd | grep -E '^(rank|proc)'
metric-eval all.cwd --json - | python3 -c 'import json, sys; c = json.load(sys.stdin)["capture"]; print(c["rank_count"], c["missing_ranks"], sorted(c["ranks"]))'
torchrun 0 env WORLD_SIZE=8 capture-agent range -q --sim-kernels 2 -c plan.cwc -o 'other%r.cwd' -- true
metric-eval merge in/r3.cwd other0.cwd -o mixed.cwd; metric-eval show mixed.cwd | grep ^rank
echo == a script of an allocation, without srun
SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=64 capture-agent range -q --sim-kernels 2 -c plan.cwc -o 'script-%r.cwd' -- true
ls script-*; metric-eval show script-none.cwd | grep rank
echo == a rank that is no number is no rank
for rank in abc 3x -1 18446744073709551616 4294967296; do
    printf 'exec >$COUNTERWORKS_SIM\necho process 11 worker 0 2; echo launch a\necho process 12 worker %s 2; echo launch a\n' $rank >program
    capture-agent range -q -c plan.cwc -o text.cwd -- sh program
    metric-eval text.cwd --by rank | grep -oE '\(no rank\)|rank [0-9]+' | tr '\n' ' '
    metric-eval ranks text.cwd | sed -n '3p'
    capture-agent trace -q -o text.cwd -- sh program
    metric-eval text.cwd --by rank | grep -oE '\(no rank\)|rank [0-9]+' | tr '\n' ' '
    metric-eval text.cwd --rank 0 --by process | grep -oE 'process [0-9]+.*'
    metric-eval text.cwd --rank 3 --by process
done
mkdir index; mv text.cwd index; metric-eval index index; sed 1d index/run.cwi | cut -d' ' -f1
