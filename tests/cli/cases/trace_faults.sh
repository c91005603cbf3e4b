# The same as capture_faults for traces: whatever happens to the program or the agent, what was complete is in the file,
# and the program is not disturbed. On the simulated GPU.
collect() { rm -f run.cwd; capture-agent trace -o run.cwd -t kernel,runtime "$@" 2>&1; }
held() { metric-eval show run.cwd 2>&1 | grep -E 'incomplete|^end|^  (kernel|runtime|account): [0-9]' | sed 's/ rows of.*//' | paste -sd';'; }
say='exec 3>$COUNTERWORKS_SIM; echo launch a >&3; echo launch b >&3; echo flush >&3; echo launch a >&3;'
echo == as it should be
collect -- sh -c "$say"; echo "status $?"; held
echo == the program is killed
collect -- sh -c "$say kill -9 \$\$"; echo "status $?"; held
echo == it crashes
collect -- sh -c "$say ulimit -c 0; kill -SEGV \$\$"; echo "status $?"; held
echo == it leaves without its exit handlers
collect -- python3 -c '
import os
f = os.open(os.environ["COUNTERWORKS_SIM"], os.O_WRONLY); os.write(f, b"launch a\nlaunch b\n"); os._exit(4)'
echo "status $?"; held
echo == it forks a child that neither executes nor ends with it
collect -- python3 -c '
import os, time
f = os.open(os.environ["COUNTERWORKS_SIM"], os.O_WRONLY); os.write(f, b"launch a\n")
if os.fork() == 0:
    os.close(1); os.close(2); time.sleep(30); os._exit(0)
os.write(f, b"launch b\n")'
echo "status $?"; held
echo == the agent is killed
rm -f run.cwd gone ended
capture-agent trace -o run.cwd -t kernel,runtime -- sh -c "$say until [ -e gone ]; do sleep 0.05; done; (echo launch c >&3) 2>/dev/null; echo the program ends >ended" &
agent=$!
until [ "$(held | grep -c 'kernel: 2')" = 1 ]; do sleep 0.05; done
kill -9 $agent; wait $agent 2>/dev/null; touch gone
until [ -e ended ]; do sleep 0.05; done; cat ended; held
echo == the disk is full
capture-agent trace -o /dev/full -- sh -c "$say echo the program ends"; echo "status $?"
(ulimit -f 64; collect --sim-steps 20000 --quiet -- sh -c 'echo the program ends'); echo "status $?"
metric-eval show run.cwd 2>&1 | awk '/^  kernel: [0-9]/ {gsub(",", ""); print ($2 > 100 ? "some are there" : "too few")} /^end/'
(ulimit -f 64; collect --sim-steps 20000 --quiet -- sh -c 'exit 6'); echo "it fails too: status $?"
echo "wherever it became full: status $(for k in $(seq 1 20); do (ulimit -f "$k"; collect --quiet -- true >told; echo $?); done | sort -u | xargs)"
echo == it says what nobody understands
collect -- sh -c "$say echo dance >&3; echo launch c >&3"; echo "status $?"; held
echo == more files than may be open
(ulimit -n 20; capture-agent trace -o 'many-%p.cwd' --sim-processes 60 -t kernel --quiet -- true 2>&1 | sed 's/many-[0-9]*/many-N/'; echo "status ${PIPESTATUS[0]}")
echo attaching:
capture-agent trace --attach 1 -o no.cwd
capture-agent trace --attach 1 -o no.cwd -- true
capture-agent trace --attach 0 -o no.cwd
capture-agent trace --attach 1 -o no.cwd --device-buffers 8
capture-agent trace -o no.cwd --device-buffers 8,10,10 -- true
capture-agent trace -o no.cwd --device-buffers ,2 -- true
capture-agent trace -o no.cwd --device-buffers 8,x -- true
capture-agent range --attach 1 -o no.cwd -c plan.cwc
test -e no.cwd || echo no file is left
echo == rows of a kind that files alone have are damaged
for output in '-o x.h5' '--json x.json' '--csv x.csv --kind context' '--csv - --kind context'; do
    metric-eval "$SOURCE/tests/attacks/files/trace_rows.cwd" -q $output 2>&1; echo "status $?"
done
ls x.* 2>&1 | sed 's/.*://'
echo == all but the rows is shown
metric-eval show "$SOURCE/tests/attacks/files/trace_cut.cwd" 2>&1 | tail -n 3
