# Files of a few KB that stand for far more are refused by every command, in one line.
files=$SOURCE/tests/fuzz/corpus/chip
for file in throughputs_of_2_30_paths pairs_of_doubled_classes; do
    metric-query list --chip-file "$files/$file" || echo "exit $?"
    metric-query lint --chip-file "$files/$file" || echo "exit $?"
    metric-config --all --chip-file "$files/$file" -o plan.cwc || echo "exit $?"
    metric-eval "$SOURCE/data/captures/gemm.cwd" --chip-file "$files/$file" || echo "exit $?"
done
{
    printf 'schema: 1\nmetrics:\n  a: {formula: 1'
    printf '+1%.0s' {1..200}
    printf '}\n'
    printf '  b%d: {formula: a+a}\n' {1..4000}
} >mine.yaml
metric-query list --chip GH100 --metrics-db mine.yaml >/dev/null || echo "exit $?"
metric-eval "$SOURCE/data/captures/gemm.cwd" --metrics-db mine.yaml || echo "exit $?"
# Names that may be CUPTI's old ones are looked for once each.
seq -f 'x%g' 100000 >names
timeout 60 metric-config --chip GH100 --metrics-file names -o plan.cwc || echo "exit $?"
timeout 60 metric-eval "$SOURCE/data/captures/gemm.cwd" --metrics-file names || echo "exit $?"
