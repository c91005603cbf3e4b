# metric-eval-mpi: one file of several processes, as one process gives. Processes are more than cores here.
command -v metric-eval-mpi >/dev/null && command -v mpirun >/dev/null || { echo "no MPI here"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_base_warn_component_unused=0
export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0:verify_asan_link_order=0 PMIX_MCA_gds=hash
mkdir job; make_ranks "$SOURCE/data/captures/gpus.cwd" 9 job 7
run() { # PROCESSES command...; what mpirun says of a process that failed is its own
    local processes=$1 said status try
    shift
    for try in 1 2 3; do # at times mpirun ends before it has passed on what a process said that failed
        said=$(timeout 100 mpirun --quiet --oversubscribe -n "$processes" "$@" 2>&1 | sed -n '/^metric-eval-mpi: /p'
               exit "${PIPESTATUS[0]}")
        status=$?
        [ $status != 0 ] && [ -z "$said" ] || break
    done
    [ -z "$said" ] || printf '%s\n' "$said"
    echo "status $status"
}
metric-eval job -o one.h5 >/dev/null
echo == 1, 2, 3 and more processes than files
for n in 1 2 3 10; do
    run $n metric-eval-mpi job -o $n.h5
    h5diff one.h5 $n.h5 /range && h5diff one.h5 $n.h5 /capture/duration_ns && echo "the same ranges"
done
for data in value status device host_start_ns name rank; do
    cmp <(h5dump -y -d /range/$data -b LE -o 1.bin one.h5 >/dev/null; cat 1.bin) <(h5dump -y -d /range/$data -b LE -o 2.bin 2.h5 >/dev/null; cat 2.bin) && echo "the same bytes of $data"
done
h5dump -a complete 2.h5 | grep -o '"yes"'
echo == metrics by name, all, and a file that is larger than a piece
metric-eval job -m gpu__time_duration.sum,dram__bytes_read.sum -o one.h5 --force >/dev/null
run 2 metric-eval-mpi job -m gpu__time_duration.sum,dram__bytes_read.sum -o 2.h5; h5diff one.h5 2.h5 /range && echo "the same ranges"
metric-eval job --all -o one.h5 >/dev/null; run 2 metric-eval-mpi job --all -o 2.h5; h5diff one.h5 2.h5 /range && echo "the same ranges"
repeat_ranges "$SOURCE/data/captures/gpus.cwd" 45000 3 large.cwd; ls job/*.cwd | tail -1 | cat - <(echo large.cwd) >list
metric-eval @list -o one.h5 >/dev/null; run 2 metric-eval-mpi @list -o 2.h5; h5diff one.h5 2.h5 /range && echo "the same ranges"
metric-eval merge job -o merged.cwd; metric-eval merged.cwd -o one.h5 >/dev/null
run 2 metric-eval-mpi merged.cwd -o 2.h5; h5diff one.h5 2.h5 /range && echo "the same ranges"
echo == one message of one failure
run 3 metric-eval-mpi job; run 3 metric-eval-mpi job -o - ; run 3 metric-eval-mpi none -o x.h5
run 3 metric-eval-mpi job "$SOURCE/data/captures/gemm.cwd" -o x.h5
run 3 metric-eval-mpi job "$SOURCE/data/captures/pm_gemm.cwd" -o x.h5
run 3 metric-eval-mpi "$SOURCE/data/captures/multiplexed.cwd" -o x.h5
run 3 metric-eval-mpi job -m nothing__at_all.sum -o x.h5
run 3 metric-eval-mpi job -o job/run.1.cwd; run 3 metric-eval-mpi job -o none/x.h5
mkdir bad; cp job/* bad; printf x | dd of=bad/run.4.cwd bs=1 seek=9000 conv=notrunc 2>/dev/null
run 3 metric-eval-mpi bad -o x.h5 | sed 's/offset [0-9]*/offset N/'; rm -f bad/run.4.cwd; printf y >bad/run.5.cwd; run 3 metric-eval-mpi bad -o x.h5; ls x.h5* 2>/dev/null
echo == a full disk, a drive that is gone, and a process that is killed
before=$(cat job/*.cwd | sha256sum)
cat >one_of <<'END'
#!/bin/sh
# only the process 1 meets the fault, or all
[ "$WHO" = all ] || [ "$OMPI_COMM_WORLD_RANK" = "$WHO" ] && export LD_PRELOAD="$FAULTS"
exec metric-eval-mpi "$@"
END
chmod +x one_of; FAULTS=$(dirname "$(command -v make_ranks)")/../tests/io_faults.so; export FAULTS
for fault in '0 full:2000:x.h5' '1 full:2000:x.h5' '1 gone:2000:x.h5' '1 gone:30000:job/' '0 kill:100:x.h5' '1 kill:2000:x.h5'; do
    WHO=${fault%% *} IO_FAULTS=${fault#* } run 2 env WHO="${fault%% *}" IO_FAULTS="${fault#* }" ./one_of job -o x.h5 >said
    # whether another process still finds out what it cannot write is up to chance where one is killed
    case $fault in *kill*) sed -i '/cannot write/d' said ;; esac
    sed "s/^status [1-9][0-9]*/failed/; s/: [A-Z0-9 ]*cannot write.*/: cannot write/" said; [ -e x.h5 ] && echo "x.h5 is there"; rm -f x.h5.??????
done
[ "$(cat job/*.cwd | sha256sum)" = "$before" ] && echo the inputs are there
run 2 metric-eval-mpi job -o x.h5; h5diff 3.h5 x.h5 /range && echo "the next run works"
echo == the job script for Slurm
printf '#!/bin/sh\nwhile case $1 in --*) true ;; *) false ;; esac; do shift; done\ncase $1 in capture-agent) for rank in 0 1 2; do PMI_RANK=$rank "$@"; done ;; *) exec mpirun --quiet --oversubscribe -n 2 "$@" ;; esac\n' >srun
printf '#!/bin/sh\nexec >"${COUNTERWORKS_SIM:-/dev/null}"\necho launch gemm\n' >your_program
chmod +x srun your_program; metric-config --chip GH100 --set demo --no-native -o plan.cwc
SLURM_JOB_ID=7 PATH=$PWD:$PATH bash "$SOURCE/docs/cluster.sbatch" 2>/dev/null | sed -n 1,2p; ls job.7*; h5dump -y -d /range/rank job.7.h5 | grep -o '"[0-9]".*'
