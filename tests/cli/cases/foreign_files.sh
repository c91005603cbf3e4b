# An output takes the place of a file of its own kind, of an empty one or of none; of any other with --force alone.
capture=$SOURCE/data/captures/gemm.cwd metric=sm__inst_executed.sum
write() {
    case $1 in
    plan) shift; metric-config --chip GH100 --no-native -m $metric -o out "$@" ;;
    capture) shift; capture-agent range --sim-kernels 3 --backend sim -c plan.cwc -o out "$@" -- true ;;
    samples) shift; capture-agent pm --backend sim -c pm.cwc -o out "$@" --duration 0.1 ;;
    code) shift; capture-agent pc --backend sim -o out "$@" -- true ;;
    merge) shift; metric-eval merge run.cwd -o out "$@" ;;
    hdf5) shift; metric-eval $capture -m $metric -o out "$@" >/dev/null ;;
    csv) shift; metric-eval $capture -m $metric --csv out "$@" >/dev/null ;;
    report) shift; metric-eval $capture --report out "$@" ;;
    json) shift; metric-eval $capture -m $metric --json out "$@" >/dev/null ;;
    esac
}
metric-config --chip GH100 --no-native -m $metric -o plan.cwc
metric-config --chip GH100 --no-native --profiler pm -m $metric -o pm.cwc
capture-agent range --sim-kernels 3 --backend sim -c plan.cwc -o run.cwd -- true
for kind in plan capture samples code merge hdf5 csv json report; do
    echo "int main(void) { return 0; }" >out
    write $kind; echo "$kind: status $?"
    [ "$(cat out)" = "int main(void) { return 0; }" ] || echo "$kind has replaced the source"
    write $kind --force; echo "$kind with --force: status $?"
    write $kind; echo "$kind over its own kind: status $?"
    : >out
    write $kind; echo "$kind over nothing: status $?"
done
# tables of other columns are CSV of ours, too
for name in gemm pm_gemm pc_gemm sass_gemm; do
    metric-eval "$SOURCE/data/captures/$name.cwd" --csv table.csv >/dev/null; echo "$name: status $?"
done
write plan --force; cp out table.csv; metric-eval "$capture" --csv table.csv
for i in 1 2; do metric-eval "$capture" --by kernel -q --csv groups.csv >/dev/null; echo "groups: status $?"; done
printf 'device,room\nGPU0,12\n' >inventory.csv; metric-eval "$capture" -q --csv inventory.csv >/dev/null; cat inventory.csv
for with in --with --baseline; do
    cp "$SOURCE/data/captures/pm_gemm.cwd" more.cwd; metric-eval "$capture" $with more.cwd --report more.cwd --force
    cmp more.cwd "$SOURCE/data/captures/pm_gemm.cwd" && echo kept
done
# a compiled chip has the name of its chip
for force in "" "" --force ""; do
    [ -e tu116.cwchip ] || echo "int main(void) { return 0; }" >tu116.cwchip
    metric-query compile -o . $force "$SOURCE/data/chips/tu116.yaml"; echo "compile $force: status $?"
done
# nothing tells native data from other files
native() { capture-agent range --backend cupti -c none.cwc -o out.cwd --keep-native native "$@" -- true; echo "native $*: status $?"; }
echo mine >native; native; native --force
rm native; echo mine >native.1; native; native --force
cat native.1
echo "== each table of CSV takes the place of itself"
twice() { rm -f table.csv; for time in first second; do metric-eval "$@" -q --csv table.csv >/dev/null || echo "$time $*"; done; }
capture-agent trace --backend sim -q --kinds all -o trace.cwd -- true 2>/dev/null
capture-agent range --backend sim -q -c plan.cwc -o ranges.cwd -- true
capture-agent pm --backend sim -q -c pm.cwc -o pm.cwd -- true
for kind in $(metric-eval trace.cwd --csv - 2>&1 | sed 's/.*kinds: //; s/,//g'); do twice trace.cwd --kind $kind; done
twice trace.cwd --by nvtx
twice ranges.cwd
twice ranges.cwd --by kernel
twice pm.cwd
twice pm.cwd --by nvtx
twice join trace.cwd ranges.cwd
twice join trace.cwd ranges.cwd --by launch
twice join trace.cwd pm.cwd
twice ranks ranges.cwd
for hot in pc_gemm sass_gemm; do twice "$SOURCE/data/captures/$hot.cwd"; done
