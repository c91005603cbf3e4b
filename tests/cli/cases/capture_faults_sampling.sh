# The same as capture_faults for samples and instructions: whatever happens to the program or the agent, what was complete
# is in the file, and the program is not disturbed. On the simulated GPU.
metric-config --chip GH100 --profiler pm --no-native -m sm__cycles_active.avg -o pm.cwc 2>/dev/null
declare -A agents=([pm]='pm -c pm.cwc' [pc]=pc [sass]='sass -m smsp__sass_inst_executed')
collect() { # OUTPUT PROGRAM...
    capture-agent ${agents[$kind]} -o "$1" -- "${@:2}"
}
held() { metric-eval show run.cwd 2>&1 | grep -E '^(samples|records|batches|launches|end)' | tr -s ' ' | paste -sd';'; }
say='exec 3>$COUNTERWORKS_SIM; echo launch a >&3; echo launch b >&3;'
for kind in pm pc sass; do
    echo "== $kind"
    collect run.cwd sh -c "$say"; echo "as it should be: status $?; $(held)"
    collect run.cwd sh -c "$say kill -9 \$\$"; echo "killed: status $?; $(held)"
    collect run.cwd sh -c "$say ulimit -c 0; kill -SEGV \$\$"; echo "crashed: status $?; $(held)"
    collect run.cwd python3 -c '
import os
f = os.open(os.environ["COUNTERWORKS_SIM"], os.O_WRONLY); os.write(f, b"launch a\nlaunch b\n"); os._exit(4)'
    echo "_exit: status $?; $(held)"
    collect run.cwd python3 -c '
import os, time
f = os.open(os.environ["COUNTERWORKS_SIM"], os.O_WRONLY); os.write(f, b"launch a\n")
if os.fork() == 0:
    os.close(1); os.close(2); time.sleep(30); os._exit(0)
os.write(f, b"launch b\n")'
    echo "a child that stays: status $?; $(held)"
    rm -f gone ended run.cwd # what an earlier capture held is not to be taken for this one's
    capture-agent ${agents[$kind]} -o run.cwd -- sh -c "$say until [ -e gone ]; do sleep 0.05; done; (echo launch c >&3) 2>/dev/null; echo the program ends >ended" &
    agent=$!
    until [ "$(held | grep -cE 'samples: 32|records: 24|batches: 2')" = 1 ]; do sleep 0.05; done
    kill -9 $agent; wait $agent 2>/dev/null; touch gone
    until [ -e ended ]; do sleep 0.05; done; echo "the agent is killed: $(cat ended); $(held)"
    collect /dev/full sh -c "$say echo the program ends"; echo "no room at all: status $?"
    much='exec 3>$COUNTERWORKS_SIM; for i in $(seq 200); do echo launch a >&3; done;'
    (ulimit -f 8; collect run.cwd sh -c "$much echo the program ends"); echo "room for a few: status $?"
    (ulimit -f 8; collect run.cwd sh -c "$much exit 6"); echo "it fails too: status $?"
    metric-eval show run.cwd 2>&1 | awk '/^(samples|records):/ {print ($2 > 11 ? "some are there" : "too few")} /^end/'
    collect run.cwd sh -c "$say echo dance >&3; echo launch c >&3"; echo "nobody understands: status $?; $(held)"
done
