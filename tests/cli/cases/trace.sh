# A trace of the simulated program: what it records, into which files, and what it says of mistakes.
held() { metric-eval show "$1" 2>&1 | grep -E '^(end|dropped|process|untimed)|^  [a-z_]*: [0-9,]* rows|^    |^  .*(lost| [1-9][0-9]* dropped| [1-9][0-9]* without)|before' | grep -v '^  [a-z_]*: [^0-9]' | sed 's/ rows of.*//'; }
fail() { "$@"; echo "status $?"; }
echo == all by itself
capture-agent trace -o run.cwd -- true; held run.cwd
capture-agent trace -o again.cwd --quiet -- true; cmp run.cwd again.cwd && echo the same again
echo == what was lost
capture-agent trace -o run.cwd --sim-drop 7 --sim-untimed 3 --kinds kernel,copy -- true; held run.cwd
capture-agent trace -o run.cwd --sim-drop 7 --kinds kernel,copy --quiet -- true
capture-agent trace -o run.cwd --sim-unfinished --kinds gpu -- sh -c 'exit 3'; echo "status $?"; held run.cwd
echo == kinds
capture-agent trace --list-kinds
for kinds in all -api,-nvtx 'default,-gpu,um,-driver'; do
    capture-agent trace -o run.cwd --kinds=$kinds -- true 2>&1 | sed 's/ [0-9]*//g'
done
capture-agent trace -o run.cwd -t api --calls 'cuda*,-cudaLaunch*' --sim-processes 1 -- true
capture-agent trace -o run.cwd -t gpu --graphs whole --sim-processes 1 -- true
for kinds in kernle gpu,-gpu '' kernel,account; do fail capture-agent trace -o run.cwd --kinds "$kinds" -- true 2>&1 | grep -v -e --help; done
echo == a file for each process or rank
capture-agent trace -o 'run-%p.cwd' --kinds kernel -- true; ls run-*
capture-agent trace -o 'rank%r-%q{JOB}.cwd' --kinds kernel --sim-processes 3 --sim-drop 2 -- true; ls rank*
held rank0-.cwd; held rank2-.cwd
RANK=5 capture-agent trace -o 'one%r.cwd' --sim-processes 1 --quiet -- true; ls one*
capture-agent trace -o 'empty-%r.cwd' -- sh -c 'echo process 7 other >$COUNTERWORKS_SIM'; echo "status $?"; ls empty*
fail capture-agent trace -o 'run-%x.cwd' -- true
echo == windows
window() { capture-agent trace -o run.cwd -t gpu,nvtx --sim-processes 1 "$@" -- true; echo "status $?"; }
window --delay 2ms --duration 1ms
window --window 500us --every 2ms
window -d 1h
window --range '^optimizer$'
window --kernel AllReduce --launch-skip 1 --launch-count 2
window --profiler-api
window --toggle 2>&1 | sed 's/-USR2 [0-9]*/-USR2 PID/'
window --range nothing
window --delay 1000s --duration 2ms --kernel gemm; metric-eval show run.cwd | grep windows
metric-eval run.cwd | grep window
echo == a program that says what it does
cat >app <<'END'
exec >$COUNTERWORKS_SIM
cat <<'EVENTS'
process 10 first 0
push outer
launch gemm
untimed gemm
lost gemm
stream 9
copy HtoD 1000000
graph 5
mark here
pop
sync
process 20 second 1
device 0 0000:55:00.0
start whole
thread 3
allocate 100
free
memset 4096
wait 300000
profiler start
launch softmax
profiler stop
end whole
start open
process 10 first
launch gemm
flush
launch gemm
crash
launch gemm
process 20 second
launch softmax
EVENTS
END
capture-agent trace -o run.cwd -t all --sim-seed 4 -- sh app; held run.cwd
metric-eval show run.cwd | grep pci
capture-agent trace -o run.cwd -t gpu --process second -- sh app
capture-agent trace -o run.cwd -t gpu --device 3 -- sh app; echo "status $?"
capture-agent trace -o run.cwd -t gpu --profiler-api -- sh app
echo == a signal to the agent is not one to the program
cat >all_read <<'END'
import array, fcntl, os, termios, time
for line in b"launch a\n", b"flush\n": # the second is read when the first was taken
    os.write(3, line)
    left = array.array("i", [1])
    while left[0]:
        time.sleep(0.02)
        fcntl.ioctl(3, termios.FIONREAD, left)
END
toggled() { # SHELL-COMMAND [HOW-THE-AGENT-IS-STARTED...]
    rm -f started told
    "${@:2}" capture-agent trace -o run.cwd -t gpu --toggle -- sh -c "exec 3>\$COUNTERWORKS_SIM
        $1; python3 all_read; echo >started; until [ -s told ]; do sleep 0.02; done; echo launch b >&3" 2>said &
    local agent=$!
    until [ -s started ]; do sleep 0.02; done
    kill -USR2 $agent && echo >told
    wait $agent
    sed "s/$agent/PID/" said
    metric-eval show run.cwd | grep 'of process'
}
toggled true
toggled 'trap "echo launch c >&3" USR2'
toggled 'kill -USR2 $$' env --ignore-signal=USR2
env --block-signal=USR2 capture-agent trace -o run.cwd --toggle --quiet -- grep SigBlk /proc/self/status
echo == descriptions are all that was asked for
for kinds in overhead name stream,context environment kernel,name; do
    capture-agent trace -o run.cwd -t $kinds --sim-processes 1 -- true; echo "status $?"
done
echo == mistakes
fail capture-agent trace -- true
fail capture-agent trace -o run.cwd
fail capture-agent trace -o run.cwd --every 1s -- true
fail capture-agent trace -o run.cwd --window 2s --every 1s -- true
fail capture-agent trace -o run.cwd --latency --hes -- true
fail capture-agent trace -o run.cwd --latency --attach 1
fail capture-agent trace -o run.cwd --delay 0 -- true
fail capture-agent trace -o run.cwd --range '[' -- true
fail capture-agent trace -o - -- true
fail capture-agent trace -o run.cwd -- ./nosuch
