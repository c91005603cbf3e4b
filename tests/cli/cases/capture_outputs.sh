# What is written where: a capture replaces captures alone, and only for a program that there is; two do not write one file;
# and what is printed does not end up in it.
metric-config --chip GH100 --no-native -m sm__inst_executed.sum -o plan.cwc
capture() { capture-agent range --sim-kernels 3 -c plan.cwc -o "$@"; }
held() { metric-eval show "$1" 2>&1 | grep -E '^(ranges|end)' | tr -s ' ' | paste -sd';'; }
capture run.cwd -- true && capture run.cwd --sim-kernels 2 -- true; held run.cwd
printf '#!/bin/sh\nexit 0\n' >program; chmod +x program; mkdir folder; touch no_program
cp plan.cwc kept; cp run.cwd kept.cwd
for output in plan.cwc program; do capture $output -- ./program; echo "status $?"; done
for program in ./nosuch nosuch ./no_program ./folder; do capture run.cwd -- $program; echo "status $?"; done
cmp plan.cwc kept && cmp run.cwd kept.cwd && ./program && echo all is as it was
: >empty; capture empty -- ./program; held empty
echo == two at once
mkfifo go
capture run.cwd -- sh -c 'read line <go' &
until [ "$(head -c 8 run.cwd | wc -c)" = 8 ] && ! cmp -s run.cwd kept.cwd; do sleep 0.02; done
capture run.cwd -- true; echo "status $?"
echo >go; wait; held run.cwd
echo == without standard files
for closed in 0 1 2; do
    (eval "exec $closed>&-"; capture closed.cwd -- false); held closed.cwd
done
(exec 2>&-; metric-eval run.cwd -o none/none.h5); echo "status $?"
metric-eval run.cwd >&-; echo "status $?"
echo == children that nobody waits for
timeout 20 python3 -c '
import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execvp("capture-agent", ["capture-agent", "range", "--sim-kernels", "3", "-c", "plan.cwc", "-o", "run.cwd", "--",
                            "sh", "-c", "grep SigIgn /proc/self/status >ignored; exit 3"])'
echo "status $?"; held run.cwd
echo == what the program ignores
(trap '' INT XFSZ TERM; grep SigIgn /proc/self/status >alone; capture run.cwd -- grep SigIgn /proc/self/status | cmp - alone && echo the same)
echo == a value makes no path
mkdir -p runs; echo precious >secret
RUN=/../../secret capture 'runs/x%q{RUN}' -- true; echo "status $?"
SLURM_PROCID=../secret capture 'runs/%r' -- true; echo "status $?"
RUN=.. capture-agent pc -o 'runs/%q{RUN}/secret' -- true; echo "status $?"
cat secret; ls runs
