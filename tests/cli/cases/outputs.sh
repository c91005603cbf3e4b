# -o FILE, with the format by its suffix or by --format: every format, several at once, and the old names.
captures=$SOURCE/data/captures
run=$captures/stream.cwd
kind() { for file; do printf '%s: ' "$file" && head -c 26 "$file" | tr -c ' -~' . && echo; done; }
metric-eval "$run" -o a.h5 -o a.csv -o a.json -o a.html -o a.ndjson -o a.folded -o a.speedscope.json -o a.prom
kind a.*
metric-eval "$captures/trace_train.cwd" -o t.pftrace -o t.chrome.json -o t.html -o t.json
kind t.*
metric-eval join "$captures"/{trace_nodes,graph_kernels}.cwd -o j.csv -o j.h5 2>&1 | tail -n 3
# the same bytes as by the old names
metric-eval "$run" --csv b.csv --json b.json -q && cmp a.csv b.csv && cmp a.json b.json
metric-eval export "$run" --format ndjson | cmp - a.ndjson
metric-eval export "$captures/trace_train.cwd" --perfetto b.pftrace -q && cmp b.pftrace t.pftrace
metric-eval report "$run" -o b.html -q
metric-eval "$run" --report c.html -q && cmp b.html c.html
metric-eval export "$run" --tidy -o tidy.csv -o x.folded && head -n 1 tidy.csv
# standard output: --format alone, or -o -
metric-eval "$run" --format csv | cmp - a.csv
metric-eval "$run" --format json -o - | cmp - a.json
metric-eval "$run" -o - | cmp - a.h5
metric-eval "$run" -m sm__cycles_active.avg --format text -q | head -n 1
metric-eval "$run" --format ndjson -o odd.name && cmp odd.name a.ndjson
metric-eval "$run" -q -o plain && cmp plain a.h5
mkfifo pipe && { cat pipe >got & metric-eval "$run" -o a.csv --json pipe; wait; cmp got a.json; }
# CSV with a line for each row, for each value, and in the shape of version 0.1
facts="$captures/facts.cwd -m sm__inst_executed.sum,launch__registers_per_thread,sm__cycles_active.avg --range 0"
for shape in '' --tidy '--compat 0'; do
    # shellcheck disable=SC2086
    metric-eval $facts --format csv $shape
    # shellcheck disable=SC2086
    metric-eval export $facts --format csv $shape | head -n 1
    # shellcheck disable=SC2086
    metric-eval "$captures/pm_gemm.cwd" -m sm__cycles_active.avg --format csv $shape | head -n 2
    # shellcheck disable=SC2086
    metric-eval "$captures/trace_train.cwd" --by stream --top 1 --format csv $shape
done
# printed text, as a file
for command in "show $run" "explain $run sm__cycles_active.avg" "advise $run" "diff $run $run"; do
    # shellcheck disable=SC2086
    metric-eval $command -o p.txt --force && metric-eval $command 2>/dev/null | cmp - p.txt
    # shellcheck disable=SC2086
    metric-eval $command -o p.json && metric-eval $command --format json 2>/dev/null | cmp - p.json
done
metric-eval show "$run" --format csv | sed -n "1,4p"
metric-eval show "$captures/pc_gemm.cwd" --format ndjson | grep instructions
metric-eval explain "$run" l1tex__t_sector_hit_rate.pct --format csv 2>/dev/null
metric-eval explain "$captures/multiplexed.cwd" sm__throughput.avg.pct_of_peak_sustained_elapsed -o e.h5 2>/dev/null && h5dump -d /explain/counter/pass_count e.h5 | grep -m 1 "(0)"
metric-eval show --provenance "$run" --format csv 2>&1 | head -n 1
# refused
metric-eval "$run" -o a.cvs 2>&1 | head -n 1
metric-eval "$run" --format cvs 2>&1 | head -n 1
metric-eval "$run" -o a.csv -o b.csv 2>&1 | head -n 1
metric-eval "$run" -o a.csv --csv b.csv 2>&1 | head -n 1
metric-eval "$run" -o a.csv -o a.json --format csv 2>&1 | head -n 1
metric-eval "$run" --by kernel -o a.ndjson 2>&1 | head -n 1
metric-eval "$run" -o a.csv -o ./a.csv 2>&1 | head -n 1
metric-eval "$run" --tidy 2>&1 | head -n 1
metric-eval "$run" --compat 0 -o a.json 2>&1 | head -n 1
metric-eval "$run" --tidy --compat 0 -o a.csv 2>&1 | head -n 1
metric-eval "$run" --compat 1 -o a.csv 2>&1 | head -n 1
metric-eval report "$run" 2>&1 | head -n 1
metric-eval report "$run" -o a.csv 2>&1 | head -n 1
metric-eval export "$run" -o a.h5 2>&1 | head -n 1
metric-eval export "$run" --format json 2>&1 | head -n 1
metric-eval export "$captures/trace_train.cwd" -o t.csv
metric-eval "$captures/trace_train.cwd" --kind kernel --format csv -o t.csv && head -n 1 t.csv | cut -c 1-20
for report in cuda_gpu_kern_sum cuda_api_sum cuda_gpu_mem_time_sum nvtx_sum:base; do metric-eval "$run" --report $report 2>&1 | head -n 1; done
for option in --csv --json --report -o; do metric-eval "$run" $option --by kernel 2>&1 | head -n 1; done
ls -d -- --by cuda* 2>&1
metric-eval export "$run" 2>&1 | head -n 1
metric-eval export "$captures/trace_train.cwd" -o t.folded
metric-eval "$captures/trace_train.cwd" -o t.prom
metric-eval check "$run" 2>&1 | head -n 1
metric-eval check "$run" --values a.json --native a 2>&1 | head -n 1
metric-eval check "$run" --values a.json -m sm__cycles_active.avg 2>&1 | head -n 1
