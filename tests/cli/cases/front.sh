# counterworks: the commands of all programs behind one door.
captures=$SOURCE/data/captures
counterworks --help
counterworks --help | awk 'length > 80 { print "more than 80 columns: " $0 } END { if (NR > 24) print "found " NR " lines, expected 24" }'
counterworks --help=all | awk 'length > 80 { print "more than 80 columns: " $0 }'
counterworks --help=all | sed -nE 's/^([A-Z][a-z]+ +| {10})([a-z]+)  +.*/\2/p' >commands
wc -l <commands
# every command explains itself, with at most 25 options, and knows --help=all and --quiet
while read -r command; do
    case $command in import | mpi) continue ;; esac # with CUDA's headers, or MPI
    counterworks "$command" --help >help || echo "$command: $?"
    head -n 1 help | grep -q "^Usage: counterworks $command" || head -n 1 help
    [ "$(grep -cE '^ {2,6}(-., )?--' help)" -le 25 ] || echo "$command: more than 25 options"
    counterworks "$command" --help=all | grep -q -- '--help\[=all\]' || echo "$command: no --help=all"
    sed -n '/^Example/,/^$/p' help | grep -vE '^(Example:|  counterworks .*|)$' # a command has a line of its own
    sed 's/ *$//' help | awk 'length > 100 { print "more than 100 columns: " $0 }'
    grep -q -- '--quiet' help || echo "$command: no --quiet"
done <commands
counterworks doctor --help=most 2>&1 | head -n 1
for words in -h "help plan" "plan -h" "capture -h"; do counterworks $words | head -n 1; done
metric-eval help merge | head -n 1; counterworks help marge; echo "status $?"; counterworks help --help | head -n 1
# without a command, and misspelt
counterworks; echo "status $?"
counterworks explian run.cwd metric; echo "status $?"
counterworks fnid; echo "status $?"
counterworks none/run.cwd; echo "status $?"
counterworks --version | grep -o '^counterworks'

# the same as under their own names, but for the name
same() { # COUNTERWORKS-COMMAND -- COMMAND
    local front=()
    while [ "$1" != -- ]; do front+=("$1") && shift; done
    shift
    diff <(counterworks "${front[@]}" 2>&1) <("$@" 2>&1 | sed "s/^$1:/counterworks:/") && echo "${front[0]}"
}
same find --chip GH100 l2 hit rate -- metric-query list --chip GH100 --search 'l2 hit rate'
same describe --chip GH100 sm__cycles_active -- metric-query describe --chip GH100 sm__cycles_active
same plan --chip GH100 --set speed-of-light --no-native --explain -- metric-config --chip GH100 --set speed-of-light --no-native --explain
same "$captures/gemm.cwd" --by kernel -m sm__cycles_active.avg -- metric-eval "$captures/gemm.cwd" --by kernel -m sm__cycles_active.avg | sed 's|.*/||'
same table "$captures/gemm.cwd" -- metric-eval "$captures/gemm.cwd"
same show "$captures/gemm.cwd" -- metric-eval show "$captures/gemm.cwd"
same explain "$captures/gemm.cwd" sm__cycles_active.avg -- metric-eval explain "$captures/gemm.cwd" sm__cycles_active.avg
same diff "$captures"/{gemm,h200_gemm}.cwd -- metric-eval diff "$captures"/{gemm,h200_gemm}.cwd
same check "$captures/gemm.cwd" --values "$captures/gemm.json" -- metric-eval --check "$captures/gemm.json" "$captures/gemm.cwd"
# an option first is the table's, and a file of a command's name is one with ./
counterworks --top 1 "$captures/gemm.cwd" -m sm__cycles_active.avg | head -n 1
cp "$captures/gemm.cwd" show
diff <(counterworks ./show -m sm__cycles_active.avg) <(metric-eval ./show -m sm__cycles_active.avg)

# the agent beside it, elsewhere in PATH, and nowhere
counterworks plan --chip GH100 --set speed-of-light --no-native -o plan.cwc
counterworks capture -c plan.cwc -o run.cwd --sim-kernels 2 -- true
counterworks run.cwd -m gpu__time_duration.sum --by range -q | wc -l
counterworks capture -c plan.cwc -o run.cwd --kernel -- false; echo "status $?"
counterworks capture --coalesce; echo "status $?"
for words in "capture -m x" "sample --set x" "export --kind x" "table -x"; do counterworks $words 2>&1 | head -n 1; done
counterworks trace -o trace.cwd -- sh -c 'exit 7'; echo "status $?"
mkdir alone && cp "$BIN/counterworks" alone
PATH=$PWD/alone:$PATH counterworks sass --help | head -n 1
PATH=$PWD/alone:/usr/bin:/bin counterworks doctor 2>&1 | sed "s|$PWD|HERE|"
PATH=$PWD/alone:/usr/bin:/bin counterworks doctor >/dev/null 2>&1; echo "status $?"
