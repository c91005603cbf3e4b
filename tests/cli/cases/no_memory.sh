# Where an allocation fails, a command ends with status 8 and one line, or prints and writes what it does otherwise; nothing is
# left half done. The last allocations, which are those of writers, fail one after the other, and a few of those before: the
# tests of the loaders let each of theirs fail.
. "$SOURCE/tests/support/named_files.sh"
mkdir files
echo no module >module
named_files files text text module
export CW_DATA_DIR=$PWD/files/data
d=$PWD/files last=24

# More than a thousand runs are looked at, so little besides the commands starts a process.
shopt -s nullglob dotglob
# out_of_memory LINE...: whether one of them says so, and no other
out_of_memory() {
    local line count=0
    for line; do case $line in *': out of memory') count=$((count + 1)) ;; esac done
    [ $count = 1 ]
}
# honest RUN: what is wrong with the run in this folder
honest() {
    local output lines status
    read -r status <"$1/status"
    if [ "$status" = 0 ]; then
        cmp wanted.out "$1/out" 2>&1; diff -r wanted "$1/made"
        return
    fi
    mapfile -t lines <"$1/err"
    if [ "$status" != 8 ] || ! out_of_memory "${lines[@]}"; then
        echo "exit $status"; head -20 "$1/err"
    else # an output before the one that failed is whole
        for output in "$1"/made/*; do cmp "wanted/${output#"$1/made/"}" "$output" 2>&1; done
    fi
}
# sweep COMMAND ARGUMENT...: what it writes goes into the folder `made`
sweep() {
    local command=$1-alloc seen at runs
    shift
    rm -rf made wanted runs; mkdir made runs
    CW_ALLOC_SEEN=seen $command "$@" >wanted.out 2>wanted.err || { echo "$*: exit $?"; cat wanted.err; }
    mv made wanted
    read -r seen <seen
    [ "$seen" -gt 0 ] || echo "$*: found no allocation"
    runs=$(printf '%s\n' 0 $((seen / 3)) $((seen / 2)) $(seq $((seen > last ? seen - last : 0)) $((seen - 1))) | sort -un)
    (cd runs && CW_ALLOC_SWEEP=$runs exec $command "$@") || echo "$*: the sweep ended with $?"
    for at in $runs; do
        honest runs/$at >said
        [ ! -s said ] || sed "s|^|$* at $at of $seen: |" said
    done
}
for capture in range pm pc sass; do
    sweep metric-eval $d/$capture.cwd
    sweep metric-eval $d/$capture.cwd --csv -
    sweep metric-eval $d/$capture.cwd --csv - --tidy
    sweep metric-eval $d/$capture.cwd --json -
    sweep metric-eval $d/$capture.cwd -o made/hdf5
    sweep metric-eval $d/$capture.cwd --report made/report
done
sweep metric-eval $d/range.cwd --csv made/csv --json made/json
sweep metric-eval $d/trace.cwd
sweep metric-eval diff $d/trace.cwd $d/trace.cwd
sweep metric-eval show $d/trace.cwd --format json
sweep metric-eval export $d/trace.cwd --perfetto made/trace
sweep metric-eval export $d/trace.cwd --format chrome -o made/trace
sweep metric-eval $d/range.cwd --by range --filter 'launches > 0' --sort name
sweep metric-eval $d/range.cwd --by nvtx --csv -
sweep metric-eval $d/range.cwd --by family
sweep metric-eval advise $d/range.cwd --rules $d/rules.yaml
sweep metric-eval advise $d/range.cwd --rules $d/rules.yaml --by family
sweep metric-eval show $d/pc.cwd
sweep metric-eval $d/range.cwd --all --csv -
sweep metric-eval explain $d/range.cwd sm__throughput.avg.pct_of_peak_sustained_active
cp $d/range.cwd $d/again.cwd
sweep metric-eval merge $d/range.cwd $d/again.cwd -o made/all.cwd
sweep metric-query list --chip TINY --all-submetrics --search inst --format json
sweep metric-query units --chip TINY
sweep metric-query legacy --chip TINY --format json
sweep metric-query describe --chip TINY sm__inst_executed.sum
sweep metric-query describe --chip TINY sm__inst_executed.sum sm__throughput --format json
sweep metric-query sets
sweep metric-query compile -o made $d/data/chips/tiny.yaml
printf '{"schema": 1, "devices": [{"device": 0, "chip": "TINY", "does": ["range"], "lacks": ["gpu"]}]}' >$d/node.json
sweep metric-config --device-facts $d/node.json -m sm__inst_executed.sum --no-native -o made/plan.cwc
sweep metric-config --chip TINY -m sm__inst_executed.sum --no-native --explain -o made/plan.cwc
sweep metric-config --chip TINY -m sm__inst_executed.sum --no-native --explain --format json
sweep metric-config --chip TINY --all --no-native --explain
echo done
