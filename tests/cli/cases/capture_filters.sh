# Which launches, ranges, devices and processes are collected, and what a range says of itself; on the simulated GPU.
metric-config --chip GH100 -m sm__inst_executed.sum --no-native -o plan.cwc
cat >program <<'EOF'
exec >$COUNTERWORKS_SIM
echo launch _Z3addPfi; echo push step; echo launch gemm
echo push inner; echo launch _Z3addPfi; echo pop
echo start window; echo launch gemm; echo pop; echo launch copy; echo end window
echo device 1; echo launch copy
echo process 7 worker 3; echo launch gemm
EOF
names() { # what was collected: name, device, range around it, rank
    capture-agent range -c plan.cwc -o run.cwd "$@" -- sh program || { echo "status $?"; return; }
    metric-eval run.cwd --json run.json >/dev/null
    python3 -c '
import json
for r in json.load(open("run.json"))["ranges"]:
    a = r["attributes"]
    print(" ", r["name"], r["device"], a.get("nvtx", "-"), a.get("rank", "-"), a["replay"])'
}
echo all; names
echo kernel; names --kernel '^gemm$'
echo readable name; names --kernel '^add\(float'
echo mangled name; names --kernel '^_Z3add'
echo several names; names --kernel '^gemm$' --kernel copy
echo all but some; names --exclude gemm --exclude '^add\(float'
echo some of those; names --kernel 'gemm|add' --exclude gemm
echo skip and count; names --kernel 'gemm|add' --launch-skip 1 --launch-count 2
echo in a range; names --range inner
echo devices; names --device 1
echo processes; names --process '^worker$'
echo no children; names --follow-children no --kernel copy
echo nothing matches; names --kernel nothing
echo as Nsight Compute spells it; names --kernel regex:gemm; names --exclude regex:gemm
echo not an expression; names --kernel '('
echo empty; for option in kernel exclude range process; do names --$option ''; done
for command in trace pc; do capture-agent $command -o run.cwd --kernel "" -- true; echo "status $?"; done
echo look-ahead; names --kernel '^(?!.*nccl)'
echo not an expression either; names --exclude '['
deep() { printf "%0$1d" 0 | tr 0 '('; echo "gemm$(printf "%0$1d" 0 | tr 0 ')')"; }
echo too deep; names --kernel "$(deep 20000)"; names --process "$(deep 251)"; names --kernel "$(deep 250)"
metric-eval "$SOURCE/data/captures/gemm.cwd" -q --kernel "$(deep 251)"; metric-query list --chip GH100 --search "$(deep 251)"
echo too many repetitions; names --kernel '((a{1,255}){1,255}){1,255}'; names --kernel 'g{1,1}e{1,99}m{1,99}'
echo too long for an expression, but a name; names --kernel "k<$(printf %010000d 0)>(int)" 2>&1 | cut -c1-60; names --kernel "k$(printf %010000d 0)" 2>&1 | tail -c 90
echo names of user ranges; names --ranges user --exclude gemm
echo not a device; names --device 1,x
echo user ranges; names --ranges user
echo the second level; names --ranges user --levels 2
echo one of them; names --ranges user --range inner
echo together or not; names --ranges user --replay kernel
echo what is left out is told
told() { capture-agent range -c plan.cwc -o run.cwd "$@" -- sh program && metric-eval run.cwd | grep -i captured; metric-eval show run.cwd | grep filter: | uniq; }
told
told --launch-skip 1 --launch-count 2
told --exclude '^add' --exclude "it's" --exclude $'two\nlines' --range step --device 0,1 --process '.*' --follow-children no
cp run.cwd first.cwd; told --kernel gemm; metric-eval diff first.cwd run.cwd | grep filter
metric-eval merge first.cwd run.cwd -o both.cwd; metric-eval both.cwd | grep -i captured
capture-agent pc -o hot.cwd --kernel layernorm -- true; metric-eval hot.cwd | head -n 2
capture-agent sass -m smsp__sass_inst_executed -o hot.cwd --kernel layernorm -- true; metric-eval hot.cwd | head -n 1
for n in 1 2 3 4 5 6 7 8 9 10; do capture-agent range --sim-kernels 10 -c plan.cwc -o $n.cwd --launch-count $n -- true; done
metric-eval merge [0-9]*.cwd -o many.cwd; metric-eval many.cwd | grep Captured | tail -n 2; metric-eval many.cwd --by device | sed -n 2p
echo nothing is captured
capture-agent range -c plan.cwc -o none.cwd --launch-skip 100 -- sh program; metric-eval none.cwd
capture-agent sass --backend sim -m smsp__sass_inst_executed --launch-skip 100 -o none.cwd -- sh program; metric-eval none.cwd
