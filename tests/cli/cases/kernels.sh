# A capture of ranges, for people: a list of its kernels, or one in full; which rows there are, and in which order.
run=$SOURCE/tests/advice/h200.cwd
captures=$SOURCE/data/captures
steps=$captures/torch_steps.cwd
fail() { "$@"; echo "status $?"; }
echo == a list
metric-eval "$run" --top 1
metric-eval "$captures/threads.cwd"
echo == in a terminal of so many columns
# terminal COLUMNS COMMAND: what it prints there
terminal() { script -qec "stty cols $1; ${*:2}" /dev/null </dev/null | tr -d '\r'; }
widest() { sed 's/\x1b\[[0-9]*m//g' | python3 -c 'import sys; print(max(len(line.rstrip("\n")) for line in sys.stdin))'; }
terminal 100 metric-eval "$run" --kernel k1[01]a --by range -m gpu__time_duration.sum,dram__bytes.sum --quiet --top 2
terminal 80 metric-eval "$run" --top 1 --quiet
metric-eval "$run" --top all --quiet | wc -l
for columns in 80 100 160; do terminal $columns metric-eval "$captures/transformer.cwd" --top 5 --quiet; done
for columns in 80 100 200; do
    for capture in "$run" "$captures"/{transformer,gemm,pc_gemm,sass_gemm,pm_gemm,pm_gpus,threads,nvtx_batch}.cwd; do
        width=$(cd "${capture%/*}" && terminal $columns metric-eval "${capture##*/}" | widest)
        [ "$width" -le $columns ] || echo "${capture##*/} is $width wide in $columns columns"
    done
done
echo == bars and bold
terminal 100 metric-eval "$captures/gemm.cwd" | grep -A1 -E 'Speed of light|waited' | cat -v | cut -c1-100
terminal 100 NO_COLOR=1 metric-eval "$captures/gemm.cwd" | grep -c "$(printf '\033')"
terminal 100 LC_ALL=C metric-eval "$captures/gemm.cwd" | grep lts__t_request_hit
metric-eval "$captures/gemm.cwd" | grep -e lts__t_request_hit -e waited -A1
echo == some metrics are columns, many are not
metric-eval "$run" --top 2 -m dram__bytes.sum,sm__throughput.avg.pct_of_peak_sustained_elapsed
terminal 100 metric-eval "$run" --top 2 -m dram__bytes.sum,sm__throughput.avg.pct_of_peak_sustained_elapsed --quiet
metric-eval "$run" --top 1 --quiet --set cache | head -n 8
echo == rows
for by in kernel family range nvtx device rank; do echo "$by: $(metric-eval "$captures/gpus.cwd" --by $by --csv - -m sm__inst_executed.sum | wc -l)"; done
metric-eval "$captures/gpus.cwd" --by device
metric-eval "$captures/nvtx_batch.cwd" --by nvtx --top 2
metric-eval "$captures/transformer.cwd" --by family --top 3
metric-eval "$captures/transformer.cwd" --by nvtx
echo "== one stream"
metric-eval "$captures/threads.cwd" --by stream -q --filter 'stream == 94214621335216' --filter 'launches > 0' | head -n 2
metric-eval "$captures/threads.cwd" --by range -q --filter 'stream == 94214621335216' --top all | wc -l
metric-eval "$captures/trace_train.cwd" --by stream -q --filter 'stream == 14'
trace_of_ranges "$captures/threads.cwd" 1 1 streams.cwd
metric-eval join streams.cwd "$captures/threads.cwd" --by stream -q --filter 'stream == 216'
metric-eval "$captures/nvtx_user.cwd" --by range --filter 'stream == 0' 2>&1 | sed -n '/filter/p'
echo "== each path of NVTX ranges can be chosen"
ranges() { metric-eval "$captures/$1.cwd" --by range -q -m gpu__time_duration.sum --format csv --range "$2" 2>&1 | awk -F, 'NR > 1 || !/^range,/ { n++ } END { print n + 0 }'; }
for capture in transformer nvtx_batch; do
    metric-eval "$captures/$capture.cwd" --by nvtx --format csv -q | cut -d, -f 1,4 | sed 1d | grep -v '^(no' |
        while IFS=, read -r path count; do [ "$(ranges $capture "$path")" -ge "$count" ] || echo "$capture: $path: $count"; done
done
for range in "step 2" "step 2/forward" "tep 2/f" "step [2]/(forward|update)"; do echo "$range: $(ranges transformer "$range")"; done
metric-eval "$captures/transformer.cwd" --kernel "step 2/forward"
metric-eval "$captures/transformer.cwd" --by family --csv - -m gpu__time_duration.sum | cut -d, -f1-6 | head -n 3
metric-eval "$steps" --by kernel --csv -
metric-eval "$steps" --by kernel --json - | grep -c '"launches": 4, "total_ns": 3'
metric-eval "$steps" --by kernel -o groups.h5 >/dev/null && h5dump -d /group/total_ns groups.h5 | grep '(0)'
fail metric-eval "$steps" --by colour
echo == which ranges
metric-eval "$steps" --range 1-2 --csv - -m gpu__time_duration.sum
metric-eval "$steps" --range 3,0 --by range --quiet
metric-eval "$steps" --range 2-99 --quiet
metric-eval explain "$steps" gpu__time_duration.sum --range 3 | head -n 1
metric-eval "$run" --kernel '^k1[01]a' --quiet -m dram__bytes.sum
fail metric-eval "$steps" --top 0 2>&1 | head -n 1; fail metric-eval "$steps" --top 99999999999999999999 2>&1 | head -n 1
fail metric-eval "$steps" --range 4
fail metric-eval "$steps" --range 2-1
fail metric-eval "$steps" --range 1,,2
fail metric-eval "$steps" --kernel step
echo == names
rows() ( set -o pipefail; metric-eval "$@" --by range --csv - -m gpu__time_duration.sum | tail -n +2 | cut -d, -f2 | sort | uniq -c )
fail rows "$captures/facts.cwd" --kernel 'plain(unsigned int*)'
fail rows "$captures/facts.cwd" --kernel 'with_s*tatic'
fail rows "$captures/facts.cwd" --kernel 'static(unsigned int*'
fail rows "$captures/facts.cwd" --range '#3,#5-6'
fail rows "$captures/facts.cwd" --kernel '#4'
fail rows "$captures/transformer.cwd" --kernel elementwise_kernel 2>&1 | cut -c 1-140
fail rows "$captures/facts.cwd" --kernel plian
fail rows "$captures/facts.cwd" --kernel PLAIN
fail rows "$captures/facts.cwd" --kernel 'with('
fail rows "$captures/facts.cwd" --kernel nothing --range 3
fail rows "$captures/facts.cwd" --kernel plain --range 1
# what tables print is a name, at every width
for columns in 60 90 130; do
    terminal $columns metric-eval "$captures/transformer.cwd" --top 50 --quiet | sed '1,/^ *---/d' | sed 's/.*  //' | sort -u >names.$columns
    wc -l <names.$columns
done
# (with sanitizers each fifth, as the code is the same for each)
sort -u names.60 names.90 names.130 | awk -v each=$((${SANITIZED:-0} ? 5 : 1)) 'NR % each == 0' >names
while read -r name; do
    metric-eval "$captures/transformer.cwd" --kernel "$name" --quiet >/dev/null || echo "not a name: $name"
done <names
fail metric-eval explain "$captures/transformer.cwd" gpu__time_duration.sum --kernel fprop_wgmma 2>&1 | head -n 2
fail metric-eval explain "$captures/facts.cwd" gpu__time_duration.sum --kernel plain 2>&1 | head -n 2
fail metric-eval explain "$captures/facts.cwd" gpu__time_duration.sum 2>&1 | head -n 2
fail metric-eval explain "$captures/facts.cwd" gpu__time_duration.sum --kernel with_
fail metric-eval explain "$captures/facts.cwd" gpu__time_duration.sum --range 3-4
fail metric-eval explain "$captures/transformer.cwd" gpu__time_duration.sum --kernel .
echo == filters and order
metric-eval "$run" --filter 'dram__bytes.sum > 4e8' --filter 'share < 0.03' --sort dram__bytes.sum -m dram__bytes.sum
metric-eval "$run" --sort total:asc --top 2 --quiet -m dram__bytes.sum
metric-eval "$run" --sort name:desc --top 2 --quiet -m dram__bytes.sum
metric-eval "$run" --filter 'launches > 1' --quiet
metric-eval "$steps" --by range --filter 'total == max(total, 1e6)' --tidy --csv - | columns range,metric,value
metric-eval "$steps" --by range --sort total:asc --top 2 --json - | grep -c '"range": [23]'
fail metric-eval "$run" --filter 'dram__bytes.sum >'
fail metric-eval "$run" --filter 'dram__bytez.sum > 1'
fail metric-eval "$run" --sort total:up
fail metric-eval "$run" --sort nothing
fail metric-eval "$captures/pm_gemm.cwd" --by kernel
fail metric-eval "$captures/pc_gemm.cwd" --filter 'launches > 1'
echo == rules that are wrong
mkdir data && ln -s "$CW_DATA_DIR"/* data && rm data/rules && mkdir data/rules
printf 'schema: 1\nrules: 3\n' >data/rules/wrong.yaml
CW_DATA_DIR=data metric-eval "$captures/threads.cwd" --top 1; echo "status $?"
echo == without a time
metric-config --chip GH100 --no-native -m sm__inst_executed.sum -o plan.cwc
capture-agent range -c plan.cwc -o run.cwd --sim-kernels 3 -- true
metric-eval run.cwd | head -n 2
echo == in full
metric-eval "$captures/gpus.cwd" --by device --wide | head -n 8
metric-eval "$steps" --by range --wide | grep -c '^  range'
echo == many ranges
repeat_ranges "$captures/graphs.cwd" 20000 60 many.cwd
metric-eval many.cwd >many; head -n 2 many; tail -n 3 many; [ "$(wc -l <many)" -le 40 ] || wc -l many
echo == how to go on, as a shell takes it
cp "$captures/transformer.cwd" "it's one.cwd"; cp "it's one.cwd" ./-t.cwd; cp "$captures/trace_train.cwd" 'a trace.cwd'; cp "it's one.cwd" $'two\nlines.cwd'
for capture in "it's one.cwd" ./-t.cwd 'a trace.cwd' $'two\nlines.cwd'; do metric-eval "$capture" | tail -n 1; done
metric-eval advise "it's one.cwd" --top 2 | grep 'counterworks explain'
echo 'schema: 1' >'my rules.yaml'; metric-eval advise "it's one.cwd" --top 2 --rules 'my rules.yaml' | grep 'counterworks explain'
metric-eval "$captures"/runs_[12].cwd | tail -n 1
echo == no name is no name
for option in kernel exclude range; do metric-eval "$run" --$option ''; done 2>&1 | grep found
echo == one kernel in a terminal of 100 columns: no two metrics read the same
terminal 100 metric-eval "$captures/gemm.cwd" | grep -E '^  [a-z]+__' | cut -d ' ' -f 3 | sort | uniq -d
terminal 100 metric-eval "$captures/multiplexed.cwd" --range 0 --by range | head -n 2; terminal 100 metric-eval explain "$captures/multiplexed.cwd" gpu__time_duration.sum --range 0 | head -n 4
