# PC sampling of certain kernels, launches and user ranges, on the simulated GPU; the file says which.
cat >program <<'EOP'
exec >$COUNTERWORKS_SIM
echo launch before; echo push epoch; echo launch warm_up; echo push step 1; echo launch gemm; echo pop
echo launch between; echo start step 2; echo pop; echo launch add; echo end step 2; echo launch after
EOP
functions() {
    capture-agent pc -o run.cwd "$@" -- sh program || { echo "status $?"; return; }
    metric-eval run.cwd --csv - | awk -F, 'NR > 1 && !seen[$4]++ {printf " %s", $4} END {print ""}'
    metric-eval show run.cwd | grep -E 'sampled|filter|batches'
}
echo all; functions
echo one kind; functions --range '^step'
echo around others; functions --range epoch
echo no such; functions --range nothing; metric-eval show run.cwd | grep end
echo no expression; functions --range '['
echo no text; functions --range "$(printf 'a\xff')"
echo a program without ranges; capture-agent pc -o run.cwd --range step -- true; echo "status $?"
echo devices
capture-agent pc -o run.cwd --device 0,2 -- true && metric-eval show run.cwd | grep batches
capture-agent sass -m smsp__sass_inst_executed -o run.cwd --device 1 -- true; echo "status $?"
capture-agent pc -o run.cwd --device x -- true 2>&1 | head -1
echo kernels
functions --kernel gemm --kernel add; functions --exclude 'gemm|be'
functions --kernel nothing
functions --kernel '^(?!gemm)'
echo kernels of ranges; functions --range step --kernel gemm
echo launches; functions --mode serialized --launch-skip 2 --launch-count 3
functions --launch-skip 2
echo pretended kernels; capture-agent pc -o run.cwd --exclude '^layernorm\(' -- true && metric-eval run.cwd --csv - | awk -F, 'NR > 1 && !seen[$4]++ {printf " %s", $4} END {print ""}'
capture-agent sass -m smsp__sass_inst_executed -o run.cwd --kernel softmax -- true && metric-eval run.cwd --csv - | awk -F, 'NR > 1 && !seen[$4]++ {printf " %s", $4} END {print ""}'
capture-agent sass -m smsp__sass_inst_executed -o run.cwd --kernel nothing -- true; echo "status $?"
echo SASS metrics
counted() {
    capture-agent sass -m smsp__sass_inst_executed -o run.cwd "$@" -- sh program || { echo "status $?"; return; }
    metric-eval run.cwd --csv - | awk -F, 'NR > 1 && !seen[$4]++ {printf " %s", $4} END {print ""}'
    metric-eval show run.cwd | grep filter
}
counted --range '^step'; counted --range nothing; counted --range epoch --exclude gemm; counted --launch-skip 1 --launch-count 2
echo names of files
capture-agent pc -o 'run.%p.cwd' -- true; echo "status $?"
SLURM_PROCID=3 JOB=night capture-agent sass -m smsp__sass_inst_executed -o 'run.%q{JOB}.%r.cwd' -- true && ls run.night.*
