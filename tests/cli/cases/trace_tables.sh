# The rows of a trace are the same in CSV, JSON and HDF5, of every kind: what is signed, and what is not known.
capture-agent trace --backend sim -q --kinds all -o sim.cwd -- true 2>/dev/null
for trace in "$SOURCE"/data/captures/trace_{kinds,train}.cwd sim.cwd; do
    echo "== ${trace##*/}"
    metric-eval "$trace" --json all.json -o all.h5 >/dev/null
    python3 - "$trace" <<'E2'
import csv, io, json, subprocess, sys
rows = same = 0
for kind, items in json.load(open("all.json")).items():
    if kind == "capture":
        continue
    text = subprocess.run(["metric-eval", sys.argv[1], "--kind", kind, "--csv", "-"], capture_output=True, check=True).stdout
    if subprocess.run(["hdf5_kind", "all.h5", kind], stdout=subprocess.PIPE).stdout != text:
        print(kind, "is another in HDF5 than in CSV")
    table = list(csv.DictReader(io.StringIO(text.decode(), newline="")))
    if len(table) != len(items) or list(table[0]) != list(items[0]):
        print(kind, "has other rows or fields in JSON than in CSV")
    for cells, item in zip(table, items):
        rows += 1
        for name, value in item.items():
            cell = "" if value is None else value if isinstance(value, str) else str(value)
            if cells[name] != cell and not (isinstance(value, float) and float(cells[name]) == value):
                print(kind, name, "CSV:", cells[name], "JSON:", value)
    same += 1
print(same, "kinds,", rows, "rows")
E2
done
echo "== what is negative"
metric-eval "$SOURCE/data/captures/trace_train.cwd" --kind stream --csv - | cut -d, -f 3 | sort | uniq -c
metric-eval sim.cwd --kind stream --csv - | cut -d, -f 1-3 | head -n 5
h5dump -d /timeline/stream/priority all.h5 | grep -m 2 -E 'DATATYPE|\(0\)'
metric-eval sim.cwd --kind nvtx_range --csv - | cut -d, -f 7,10 | sort | uniq -c | grep -E 'layer 1|optimizer|forward'
h5dump -a /timeline/nvtx_range/payload/_FillValue all.h5 | grep '(0)'
echo "== what readers are told"
about() { h5dump -A -d "/timeline/$1" all.h5 | grep -E 'ATTRIBUTE|\(0\)' | sed 's/.*ATTRIBUTE "\(.*\)" {/\1/; s/.*(0): //' | paste -sd ' ' | sed 's/DIMENSION_LIST *([^)]*)//; s/DIMENSION_LIST //'; }
for dataset in kernel/end_ns kernel/call_start_ns copy/bytes copy/direction copy/async environment/power environment/sm_clock environment/throttle nvtx_range/payload kernel/name; do
    printf '%s: ' $dataset; about $dataset
done
