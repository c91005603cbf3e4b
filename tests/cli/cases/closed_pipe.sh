# Nobody reads what is printed: a capture goes on to its end all the same, and its program has SIGPIPE as it was. What
# only prints ends as other commands do, with the signal and without a word.
metric-config --chip GH100 -m sm__inst_executed.sum --no-native -o plan.cwc
metric-config --chip GH100 --set demo --no-native -o passes.cwc
metric-config --chip GH100 --profiler pm --no-native -m sm__cycles_active.avg -o pm.cwc 2>/dev/null
held() { metric-eval show run.cwd 2>&1 | grep -E '^(ranges|samples|records|batches|end)' | tr -s ' ' | paste -sd';'; }
cat >unread <<'END'
import os, signal, sys
signal.signal(signal.SIGPIPE, getattr(signal, sys.argv[1]))
reads, writes = os.pipe()
os.close(reads)
for output in sys.argv[2]:
    os.dup2(writes, int(output))
os.close(writes)
os.execvp(sys.argv[3], sys.argv[3:])
END
capture() { # WAY OPTION...
    rm -f run.cwd pipe
    timeout 60 python3 unread SIG_DFL 12 capture-agent "$@" -o run.cwd -- sh -c 'sh -c "kill -PIPE \$\$"; echo $? >pipe; exit 3'
    echo "$1: status $?; the program's child died of $(cat pipe); $(held)"
}
capture range --sim-kernels 3 -c plan.cwc --sim-drop 1
capture range --sim-kernels 3 -c passes.cwc --replay application
capture pm -c pm.cwc --sim-drop 5
capture pc --sim-drop 5
capture sass -m smsp__sass_inst_executed
capture trace --sim-drop 5
timeout 60 python3 unread SIG_IGN 2 capture-agent range --sim-kernels 3 -c plan.cwc -o run.cwd -- sh -c 'sh -c "kill -PIPE \$\$"; echo $? >pipe; exit 3'
echo "ignored before: status $?; the program's child ended with $(cat pipe)"
echo == what only prints
for command in "metric-query list --chip GH100" "metric-eval $SOURCE/data/captures/gemm.cwd" \
    "metric-eval $SOURCE/data/captures/gemm.cwd --csv -" "metric-config --chip GH100 --set demo --explain"; do
    python3 unread SIG_DFL 1 $command; echo "${command%% *}: status $?"
done
python3 unread SIG_IGN 1 metric-query list --chip GH100; echo "status $?"
python3 unread SIG_DFL 1 capture-agent --help; echo "status $?"
# why depends on where in its length a text fails
for command in capture-agent 'capture-agent range' metric-eval 'metric-eval show' 'metric-query list' metric-config; do
    $command --help >/dev/full 2>told; status=$?
    sed 's/: [A-Z][a-z /]*$//' told; echo "status $status"
done
