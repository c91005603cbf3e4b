# What takes long says how far it is, on a terminal alone.
command -v script >/dev/null || exit 77
metric=sm__inst_executed.sum
terminal() {
    TERM=xterm timeout 100 script -qefc "$1" typed </dev/null | tr '\r' '\n' | sed 's/\x1b\[K/<clear>/; s/, [0-9]* s\b/, N s/' |
    grep . | uniq
}
metric-config --chip GH100 --no-native -m $metric -o plan.cwc
metric-config --chip GH100 --no-native --set speed-of-light -o passes.cwc
cat >app <<'EOF'
echo the program prints
{ echo launch a; echo launch b; [ $COUNTERWORKS_SIM_RUN != $1 ] || until grep -aq "^capture-agent: .*$2" typed; do sleep 0.1; done; } >$COUNTERWORKS_SIM
EOF
echo 'echo the program prints; echo launch a >$COUNTERWORKS_SIM; sleep 3' >short
echo == a capture shares the terminal with its program
terminal "capture-agent range -c plan.cwc -o run.cwd -- sh app 0 '2 launches'" | grep -e prints -e '2 launches'
terminal "capture-agent range --replay application -c passes.cwc -o run.cwd -- sh app 1 'run 2.*2 launches'" | grep 'run 2.*2 launches' |
    sed 's/run 2 of [0-9]*/run 2 of N/; s/, about.*//'
terminal "capture-agent range --quiet -c plan.cwc -o run.cwd -- sh short"
capture-agent range -c plan.cwc -o run.cwd -- sh short
echo == a line is rewritten, and removed
mkfifo slow
write="metric-eval $SOURCE/data/captures/transformer.cwd --csv slow"
late() { # what is drawn from the first line on that tells of it: on a slow machine others may come before
    timeout 100 sh -c '{ sleep 2; cat; } <slow >table.csv' & terminal "$1" | sed -n '/writing/,$p'; wait
    [ "$(wc -c <table.csv)" -gt 100000 ] && echo written
}
late "$write >/dev/null"
late "$write --quiet >/dev/null"
late "$write 2>errors.txt >/dev/null"; cat errors.txt
echo == files that are merged, and rows that are written
d=$SOURCE/data/captures; mkdir job; cp "$d"/runs_[12].cwd job
terminal "(sleep 2; cat $d/runs_1.cwd) | metric-eval merge - $d/runs_2.cwd -o all.cwd" | sed 's%, about .* left%%' | sort -u
metric-eval show all.cwd | grep ranges:
late "metric-eval export $d/transformer.cwd --format csv -o slow >/dev/null"
