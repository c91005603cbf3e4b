# Whatever happens to the program or the agent, what was complete is in the file, and the program is not disturbed.
metric-config --chip GH100 -m sm__inst_executed.sum --no-native -o plan.cwc
held() { metric-eval show "$1" 2>&1 | grep -E 'incomplete|ranges|end'; }
say='exec 3>$COUNTERWORKS_SIM; echo launch a >&3; echo launch b >&3;'

echo == the program is killed
capture-agent range -c plan.cwc -o run.cwd -- sh -c "$say kill -9 \$\$"; echo "status $?"; held run.cwd
echo == it crashes
capture-agent range -c plan.cwc -o run.cwd -- sh -c "$say ulimit -c 0; kill -SEGV \$\$"; echo "status $?"; held run.cwd
echo == it leaves without its exit handlers
capture-agent range -c plan.cwc -o run.cwd -- python3 -c '
import os
f = os.open(os.environ["COUNTERWORKS_SIM"], os.O_WRONLY); os.write(f, b"launch a\nlaunch b\n"); os._exit(4)'
echo "status $?"; held run.cwd
echo == it forks a child that neither executes nor ends with it
capture-agent range -c plan.cwc -o run.cwd -- python3 -c '
import os, time
f = os.open(os.environ["COUNTERWORKS_SIM"], os.O_WRONLY); os.write(f, b"launch a\n")
if os.fork() == 0:
    os.close(1); os.close(2); time.sleep(30); os._exit(0)
os.write(f, b"launch b\n")'
echo "status $?"; held run.cwd
echo == the agent is killed
rm -f run.cwd # what an earlier capture held is not to be taken for this one's
capture-agent range -c plan.cwc -o run.cwd -- sh -c "$say until [ -e gone ]; do sleep 0.05; done; (echo launch c >&3) 2>/dev/null; echo the program ends >ended" &
agent=$!
until [ "$(held run.cwd | grep -c '2 whole')" = 1 ]; do sleep 0.05; done
kill -9 $agent; wait $agent 2>/dev/null; touch gone
until [ -e ended ]; do sleep 0.05; done; cat ended; held run.cwd
echo == the disk is full
capture-agent range -c plan.cwc -o /dev/full -- sh -c "$say echo the program ends"; echo "status $?"
(ulimit -f 16; capture-agent range -c plan.cwc -o run.cwd --sim-kernels 200 -- sh -c 'echo the program ends')
echo "status $?"
[ "$(metric-eval show run.cwd 2>&1 | sed -n 's/^ranges: *//p')" -gt 2 ] && echo some ranges are there; held run.cwd | grep 'end:'
echo == it says what nobody understands
capture-agent range -c plan.cwc -o run.cwd -- sh -c "$say echo dance >&3; echo launch c >&3"; echo "status $?"; held run.cwd
