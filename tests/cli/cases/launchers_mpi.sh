# Ranks under a real mpirun: an agent in each process, alone and as a torchrun would start it.
command -v mpirun >/dev/null || { echo "skipped: no mpirun here"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 PMIX_MCA_gds=hash
metric-config --chip GH100 -m gpu__time_duration.sum --no-native -o plan.cwc
run() { # PROCESSES COMMAND...
    local processes=$1; shift
    SLURM_PROCID=0 mpirun --quiet --oversubscribe -n "$processes" "$@"; echo "status $?"
}
echo == four ranks
run 4 capture-agent range -q --sim-kernels 2 -c plan.cwc -o 'r%r.cwd' -- true; ls r*.cwd
metric-eval ranks r*.cwd | head -2
metric-eval merge r[013].cwd -o all.cwd
echo == two torchruns of two workers
cat >torchrun <<'END'
for local in 0 1; do
    RANK=$((2 * OMPI_COMM_WORLD_RANK + local)) LOCAL_RANK=$local WORLD_SIZE=4 \
        capture-agent range -q --sim-kernels 2 -c plan.cwc -o 'w%r.cwd' -- true
done
END
run 2 sh torchrun; ls w*.cwd; metric-eval show w3.cwd | grep ^rank
