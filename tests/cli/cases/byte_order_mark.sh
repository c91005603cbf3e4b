# Text that some editor or shell begins with a byte-order mark reads as without it.
marked() { printf '\357\273\277'; cat "$1"; }
same() { "${@:2}" "$1.${suffix}" >plain.txt 2>&1; "${@:2}" "$1.marked.${suffix}" >marked.txt 2>&1; sed "s/\.marked\././g" marked.txt | diff plain.txt - && echo "$1: $(wc -l <plain.txt) lines"; }
cp "$SOURCE"/tests/foreign/*.csv "$SOURCE"/tests/foreign/*.json .
for file in kineto.json ncu_raw.csv ncu_metrics.csv; do
    suffix=${file##*.} name=${file%.*}
    marked $file >$name.marked.$suffix
    same $name counterworks
    cat $name.marked.$suffix | metric-eval - -q >piped.txt && metric-eval $file -q | cmp - piped.txt
done
suffix=yaml
cp "$SOURCE/data/sets/dram.yaml" set.yaml; marked set.yaml >set.marked.yaml
{ echo '# a comment'; cat set.yaml; } >comment.yaml; marked comment.yaml >comment.marked.yaml
printf 'schema: 1\nmetrics:\n  my__time:\n    formula: gpu__time_duration.sum * 2\n    unit: ns\n' >formulas.yaml; marked formulas.yaml >formulas.marked.yaml
for file in set comment; do same $file metric-config --chip GH100 --no-native -o plan.cwc --force --set; done
same formulas metric-eval "$SOURCE/data/captures/gemm.cwd" -q -m my__time --metrics-db
suffix=txt
echo sm__cycles_elapsed.max >list.txt; marked list.txt >list.marked.txt
same list metric-config --chip GH100 --no-native -o plan.cwc --force --metrics-file
printf '%%YAML 1.2\n' >directive; marked directive >directive.marked.yaml; metric-config --chip GH100 --set directive.marked.yaml -o none.cwc
printf '\357\273\277' >mark.yaml; metric-config --chip GH100 --set mark.yaml -o none.cwc
