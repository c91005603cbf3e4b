# What differs reads differently, and lists say what they show of how many.
captures=$SOURCE/data/captures
fail() { "$@"; echo "status $?"; }
# terminal COLUMNS COMMAND: what it prints there
terminal() { script -qec "stty cols $1; ${*:2}" /dev/null </dev/null | tr -d '\r'; }
# the last column of a list's rows, where several have the same
alike() { sed 's/\x1b\[[0-9]*m//g' | sed -n '/^  ---/,/^$/p' | sed 's/.*  //' | sort | uniq -d | grep -v -e ---- -e NVIDIA -e "^$"; }
echo "== streams of several contexts with one number"
metric-eval "$captures/contexts.cwd" --by stream -m gpu__time_duration.sum --csv - | cut -d, -f1,4
echo "== rows in narrow terminals"
for columns in 80 90 100 110 120; do
    terminal $columns metric-eval "$captures/transformer.cwd" --top 86 | alike
    terminal $columns metric-eval "$captures/trace_train.cwd" --top 100 | alike
    terminal $columns metric-eval "$captures/trace_kinds.cwd" --by copy | alike
done
terminal 80 metric-eval "$captures/transformer.cwd" --top 3
terminal 80 metric-eval "$captures/trace_train.cwd" --by kernel | grep -F sm80_
echo "== a row that is cut in two places is taken as it reads"
metric-eval "$captures/trace_train.cwd" --kernel "$(terminal 80 metric-eval "$captures/trace_train.cwd" --by kernel |
    sed -n 's/.*  \(sm80_\.\.nt.*split.*\)/\1/p' | head -n 1)" --csv - --by kernel | cut -c 1-90
echo "== how many kernels there are, and how many of the launches are shown"
for options in "" "--by family" "--kernel elementwise" "--kernel elementwise --by family" "--range 3-5" "--by range"; do
    metric-eval "$captures/transformer.cwd" $options --top 1 | sed -n 2p
done
metric-eval "$captures/trace_train.cwd" --kernel gemm | sed -n 2p
echo "== ranges by their numbers"
terminal 100 metric-eval "$captures/transformer.cwd" --by range --range 3-5 | sed -n '5,$p'
echo "== launches outside of all windows"
metric-eval "$captures/pm_windows.cwd" | grep launches
echo "== a suggestion keeps the rollup"
fail metric-eval "$captures/gemm.cwd" -m sm__inst_executd.sum
fail metric-eval "$captures/gemm.cwd" -m sm__inst_executd.avg.per_cycle_active
fail metric-eval "$captures/gemm.cwd" -m sm__throughputt.max.pct_of_peak_sustained_elapsed
echo "== a wrong name comes before nothing to do"
fail metric-config --chip GH100 -m sm__inst_executd.sum
fail metric-config --chip GH100 --set nonsuch
fail metric-config --chip GH1 -m sm__inst_executed.sum
fail metric-config --chip GH100 -m sm__inst_executed.sum
echo "== lists of Windows, and folders with files that are no captures yet"
mkdir job
cp "$captures/gemm.cwd" job/a.cwd
printf '\xef\xbb\xbfjob/a.cwd\r\n\r\n' > list
metric-eval @list | head -n 2
: > job/b.cwd
ln -s nowhere.cwd job/c.cwd
metric-eval job 2>&1 | head -n 3
metric-eval merge job -o merged.cwd
metric-eval index job
mkdir nothing
: > nothing/b.cwd
fail metric-eval nothing
fail metric-eval job/b.cwd
