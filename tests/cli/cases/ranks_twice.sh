# A rank that several files have from different processes, as after a second run into the same folder.
metric-config --chip GH100 -m gpu__time_duration.sum --no-native -o plan.cwc
job() { # FOLDER PROCESS SEED: a job of 4 ranks, a file for each
    for rank in 0 1 2 3; do
        printf '%s\n' 'exec >$COUNTERWORKS_SIM' "echo process $(($2 + rank)) worker $rank" 'echo launch a' 'echo launch b' >program
        PMI_RANK=$rank PMI_SIZE=4 capture-agent range -c plan.cwc -o "$1/run.$rank.%p.cwd" --sim-seed $3 -- sh program
    done
}
mkdir job clean; job job 10 1; job clean 10 1; mkdir other; job other 30 2
metric-eval ranks clean 2>&1 >/dev/null
cp other/run.1.31.cwd job
metric-eval ranks job 2>&1 >/dev/null; echo == show; metric-eval show job 2>&1 >/dev/null
echo == merge; metric-eval merge job -o all.cwd; metric-eval show all.cwd | grep ranks:
echo == quiet; metric-eval ranks -q job 2>&1 >/dev/null; metric-eval merge -q job -o all.cwd
echo == four ranks, and a third run of one
cp other/*.cwd job; mkdir third; job third 50 3; cp third/run.0.*.cwd job
metric-eval ranks job 2>&1 >/dev/null
