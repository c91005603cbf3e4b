# A signal to the agent is for the program: what the program does then is captured to its end, as after a batch system's
# SIGTERM, timeout(1) or kill(1). Application replay does not start another run.
metric-config --chip GH100 -m sm__inst_executed.sum --no-native -o plan.cwc
metric-config --chip GH100 --set demo --no-native -o passes.cwc
metric-config --chip GH100 --profiler pm --no-native -m sm__cycles_active.avg -o pm.cwc 2>/dev/null
held() { metric-eval show run.cwd 2>&1 | grep -E '^(ranges|samples|records|batches|launches|end)' | tr -s ' ' | paste -sd';'; }
say='exec 3>$COUNTERWORKS_SIM; echo launch a >&3; echo launch b >&3;' ready='echo $$ >>started;'
declare -A agents=([range]='range -c plan.cwc' [pm]='pm -c pm.cwc' [pc]=pc [sass]='sass -m smsp__sass_inst_executed'
    [application]='range -c passes.cwc --replay application')

signalled() { # KIND SIGNAL SHELL-COMMAND [WHAT-IT-DOES-BEFORE]
    rm -f started signalled run.cwd
    env --default-signal=INT capture-agent ${agents[$1]} -o run.cwd -- sh -c "$say ${4:-} $ready $3" & # a shell's job would ignore INT
    local agent=$! status
    until [ -s started ]; do sleep 0.02; done
    kill -"$2" $agent; : >signalled
    wait $agent; status=$?
    kill -9 "$(tail -n 1 started)" 2>/dev/null && echo the program runs on
    echo "$1, $2: status $status; runs: $(wc -l <started); $(held)"
}
wait='while :; do sleep 0.02; done'
for kind in range pm pc sass application; do
    signalled $kind TERM "exec sleep 60"
done
echo == a program that does something about it
for signal in TERM INT HUP USR1 USR2; do
    signalled range $signal "$wait" "trap 'echo launch c >&3; exit 3' $signal;"
done
signalled application TERM "$wait" "trap 'exit 0' TERM;"
echo == one that the agent is to ignore, as under nohup, stays ignored
(trap '' HUP; signalled range HUP 'until [ -e signalled ]; do sleep 0.02; done')
echo == timeout ends the program, too
rm -f started run.cwd
timeout 1000 capture-agent range -c plan.cwc -o run.cwd -- sh -c "$say $ready exec sleep 60" &
until [ -s started ]; do sleep 0.02; done
kill -ALRM $!; wait $!; echo "status $?; $(held)" # as where its time is over
echo == the program is over, and the simulated GPU is not
for kind in "pm -c pm.cwc --sim-samples 10000000" "range -c plan.cwc --sim-kernels 1000000"; do
    rm -f run.cwd
    capture-agent $kind -o run.cwd -- true &
    agent=$!
    until [ "$(stat -c %s run.cwd 2>/dev/null || echo 0)" -gt 100000 ]; do sleep 0.02; done
    kill $agent; wait $agent
    echo "${kind%% *}: status $?; $(metric-eval show run.cwd | grep ^end); $(metric-eval show run.cwd |
        awk '/^(samples|ranges):/ {print ($2 > 0 && $2 < 1000000 ? "some are there" : $2)}')"
done
