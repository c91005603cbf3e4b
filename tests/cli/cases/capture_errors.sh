# A program that cannot run, fails, is killed, or launches nothing; plans that are not plans.
metric-config --chip GH100 -m sm__inst_executed.sum --no-native -o plan.cwc
capture() { capture-agent range -c plan.cwc -o run.cwd "$@"; echo "status $?"; }
capture -- ./no_such_program
capture -- sh -c 'exit 5'
capture -- sh -c 'kill -9 $$'
capture --sim-kernels 0 -- true
capture --sim-kernels 4 --sim-drop 1 -- true
metric-eval show run.cwd | grep -i drop
capture-agent range -c run.cwd -o again.cwd -- true; echo "status $?"
capture-agent range -c nothing.cwc -o run.cwd -- true; echo "status $?"
capture-agent range -c plan.cwc -o no/such/folder/run.cwd -- true; echo "status $?"
head -c 100 plan.cwc >short.cwc
capture-agent range -c short.cwc -o run.cwd -- true; echo "status $?"
capture-agent sample; echo "status $?"
echo == options that do not go together, or name nothing
capture --ranges user --kernel gemm -- true
capture --keep-native native -- true
capture --verbose -- true
capture --reserve-device 4096 -- true
capture --backend cupti --save-on-host 0 --replay multiplex -- true
capture-agent range -c plan.cwc -o run.cwd -- true
for native in ./run.cwd plan.cwc; do capture --backend cupti --keep-native $native -- true 2>&1 | grep -E 'found|status'; done
capture-agent range --backend cupti -c plan.cwc -o none.cwd --keep-native none.cwd -- true 2>&1 | grep found; ls none.cwd
metric-config --chip GH100 --profiler pm --no-native -m sm__cycles_active.avg -o pm.cwc 2>/dev/null
capture-agent pm -c pm.cwc -o pm.cwd --sim-overflow -- true; echo "status $?"
capture-agent pc -o pc.cwd --stall-reasons barrier,nosuch -- true; echo "status $?"
capture-agent pc -o pc.cwd --stall-reasons barrier -- true; echo "status $?"
metric-eval pc.cwd --csv - | grep -oE 'smsp__pcsamp[a-z_]*|barrier[a-z_]*|wait|selected|long_scoreboard[a-z_]*' | sort -u
echo == more open ranges than are followed
python3 -c '
print("push leak\n" * 5000 + "push step\nlaunch a\npop")' >events
capture --range '^step' -- sh -c 'cat events >$COUNTERWORKS_SIM'
capture --ranges user --replay user --range '^step' -- sh -c '(sed /^launch/d events; echo pop) >$COUNTERWORKS_SIM'
metric-eval show run.cwd | grep -i drop
echo == a rank of the batch system
SLURM_PROCID=3 capture-agent range --sim-kernels 3 -c plan.cwc -o 'rank.%r.cwd' -- true; metric-eval rank.3.cwd --json - | grep -o '"rank": *"3"' | sort -u
echo == bytes that are no text
capture -- python3 -c '
import os
open(os.environ["COUNTERWORKS_SIM"], "wb").write(b"process 7 caf\xe9 r\xff\nlaunch k\xe9rnel\nlaunch k\xc3\xa9rnel\n")'
metric-eval run.cwd --csv - | cut -d, -f2 | sort -u
echo an environment that names no backend is refused, unless the command line names one
COUNTERWORKS_BACKEND=cuda capture-agent pc -o x.cwd -- true; echo "status $?"
COUNTERWORKS_BACKEND=cuda capture-agent pc --backend sim -o x.cwd -- true; echo "status $?"
echo "== neither a plan nor an output"
capture-agent range -o run.cwd -- true 2>&1 | head -n 1
capture-agent range -c plan.cwc -- true 2>&1 | head -n 1
