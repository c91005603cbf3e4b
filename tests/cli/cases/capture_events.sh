# What the program says to the simulated GPU is taken whole, or it is told: a last line without its end, one that a signal
# cut off, and a line that is too long.
metric-config --chip GH100 -m sm__inst_executed.sum --no-native -o plan.cwc
capture() { capture-agent range -c plan.cwc -o run.cwd -- "$@"; echo "status $?"; held; }
held() { metric-eval show run.cwd 2>&1 | grep -E 'incomplete|^ranges|^end' | tr -s ' ' | paste -sd';'; }
echo == no end of the last line
capture sh -c 'printf "launch a\nlaunch b" >$COUNTERWORKS_SIM'
echo == cut off by a signal
capture sh -c 'printf "launch a\nlaun" >$COUNTERWORKS_SIM; kill -9 $$'
echo == too long a line
capture python3 -c '
import os
open(os.environ["COUNTERWORKS_SIM"], "w").write("launch a\nlaunch " + "k" * 5000 + "\nlaunch b\n")'
