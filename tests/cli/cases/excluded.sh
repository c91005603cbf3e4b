# Kernels that --exclude leaves out, by the names that --kernel takes; several names.
facts=$SOURCE/data/captures/facts.cwd
transformer=$SOURCE/data/captures/transformer.cwd
fail() { "$@"; echo "status $?"; }
rows() { ( set -o pipefail; metric-eval "$@" --by range --csv - -m gpu__time_duration.sum | tail -n +2 | cut -d, -f2 | sort | uniq -c ) }
echo == all; rows "$facts"
echo == a whole name; rows "$facts" --exclude 'plain(unsigned int*)'
echo == a part; rows "$facts" --exclude with_
echo == an expression; rows "$facts" --exclude '^(plain|with_s)'
echo == several; rows "$facts" --exclude plain --exclude with_s
echo == a number; rows "$facts" --exclude '#0'
echo == some of several; rows "$facts" --kernel plain --kernel with_s --exclude static
echo == of some ranges; rows "$facts" --range 0-3 --exclude plain
echo == none; fail rows "$facts" --exclude nothing | head -3
fail rows "$facts" --exclude plian | tail -1
echo == everything; fail rows "$facts" --exclude .
echo == mistakes
fail metric-eval "$facts" --exclude '['
fail metric-eval "$facts" --kernel '^(?!.*plain)'
fail metric-eval "$facts" --kernel plain --kernel nothing
fail metric-eval "$SOURCE/data/captures/pm_gemm.cwd" --exclude gemm
fail metric-eval "$SOURCE/data/captures/pc_gemm.cwd" --exclude gemm
fail metric-eval "$SOURCE/data/captures/pc_gemm.cwd" --exclude gemm --report page.html
fail metric-eval "$facts" --all --report page.html
echo == elsewhere
metric-eval "$transformer" --exclude nvjet --top 2 --quiet | cut -c 1-90
metric-eval advise "$transformer" --exclude nvjet --top 1 | head -n 1
metric-eval explain "$facts" gpu__time_duration.sum --exclude with_ --exclude '(together|clust)' 2>&1 | head -n 2
metric-eval "$facts" --exclude with_ --report page.html && grep -o '"unwanted":[0-9]*' page.html
echo == two captures
metric-eval diff "$facts" "$facts" --exclude with_ | head -n 2
metric-eval diff "$facts" "$SOURCE/data/captures/gemm.cwd" --kernel '^(plain|gemm)' | head -n 2
fail metric-eval diff "$facts" "$facts" --kernel nothing
for i in 1 2 3; do cp "$facts" run$i.cwd; done
metric-eval gate --learn run?.cwd -o gate.yaml -m sm__inst_executed.sum --exclude with_ | head -n 1
metric-eval gate "$facts" "$facts" --rules gate.yaml --exclude with_ | head -n 3
fail metric-eval gate "$facts" "$facts" --rules gate.yaml --exclude .
echo == for other programs
metric-eval export "$facts" --format folded --exclude with_
metric-eval export "$facts" --format csv --exclude with_ -m sm__inst_executed.sum | cut -d, -f 1-3 | tail -n 2
metric-eval export "$facts" --format prometheus --kernel plain -m sm__inst_executed.sum | grep -c '^counterworks_launches{'
fail metric-eval export "$SOURCE/data/captures/pc_gemm.cwd" --format csv --kernel gemm
echo == shares are of the whole, whatever is chosen
for command in '' advise; do metric-eval $command "$SOURCE/data/captures/transformer.cwd" --kernel nvjet --top 1 | grep -E 'launches|%' | cut -c1-100; done
metric-eval "$SOURCE/data/captures/transformer.cwd" --exclude nvjet --top 1 | sed -n 2,3p
metric-eval advise "$SOURCE/data/captures/transformer.cwd" --kernel nvjet --format json | python3 -c '
import json, sys
a = json.load(sys.stdin)
print(a["time_ns"], round(sum(k["share"] for k in a["kernels"]), 4), round(a["families"][0]["share"] * 5730528))'
