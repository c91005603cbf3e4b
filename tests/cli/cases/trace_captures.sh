# traces of an H100: every kind that it has, and a training of PyTorch with NVTX and a CUDA graph; graphs node by node, models
captures=$SOURCE/data/captures
for name in kinds nodes window openmp openacc train; do
    echo "== $name"
    metric-eval show "$captures/trace_$name.cwd" | sed -nE 's/^  ([a-z_]+): ([0-9,]+) rows.*/\1 \2/p; /launched,|ran before|ended before/p'
done
echo "== what a person sees first"
metric-eval "$captures/trace_train.cwd" --top 5 | head -n 18
echo "== all rows of a kind"
metric-eval "$captures/trace_kinds.cwd" --kind external_correlation --csv -
metric-eval "$captures/trace_kinds.cwd" --kind nvtx_range --csv - | cut -d, -f 3- | sort | uniq -c | sort -rn | head -n 3
echo == whole graphs have no nodes, and what ran in no range has no times of ranges
metric-eval "$SOURCE/data/captures/trace_kinds.cwd" --by graph -q
metric-eval "$SOURCE/data/captures/trace_kinds.cwd" --by nvtx --csv - | cut -d, -f1,4,7,14-18 | grep -E '^(group|before|\(no)'
echo == what show prints is as wide as the terminal at most, and the same words
for columns in 80 100; do
    script -qec "stty cols $columns; metric-eval show $captures/trace_kinds.cwd" /dev/null </dev/null | tr -d '\r' >shown
    tail -n +2 shown | awk -v most=$columns 'length > most { print length ": " $0 }'
    cmp <(tr -s ' \n' '\n' <shown) <(metric-eval show "$captures/trace_kinds.cwd" | tr -s ' \n' '\n') && echo same
done
grep -A 2 '^  launch_shape: ' shown
echo "== of every kind: what is signed, graphs that the GPU launched, code from the driver's cache"
metric-eval "$captures/trace_kinds.cwd" --kind stream --csv - | cut -d, -f 3,4 | sort | uniq -c
for kind in device_graph_launch jit; do metric-eval "$captures/trace_kinds.cwd" --kind $kind --csv - | sed -E 's,/[a-z]+/\.nv,/home/user/.nv,'; done
metric-eval "$captures/trace_kinds.cwd" --json kinds.json -o kinds.h5 >/dev/null
python3 -c 'import json; print(min(s["priority"] for s in json.load(open("kinds.json"))["stream"]))'
h5dump -d /timeline/stream/priority kinds.h5 | grep -m 2 -E 'DATATYPE|-5' | tr -s ' '
print_trace_fields --rows stream "$captures/trace_kinds.cwd" | grep -o 'priority=-.*'
echo "== what a question finds not to be done has not failed"
metric-eval "$captures/trace_kinds.cwd" --by call --csv - | cut -d, -f 1,4,12 | grep -E '^(group|cudaEventQuery)'
echo "== unified memory"
for name in kinds peers; do metric-eval "$captures/trace_$name.cwd" | sed -n '/^Events of unified/,/^$/p'; done
