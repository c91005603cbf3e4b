# What was multiplexed is one range for all that are alike, in every form, with occurrences and spread of each value.
metrics=gpu__time_duration.sum,sm__inst_executed.sum,sm__inst_executed.avg.per_cycle_active,lts__t_sector_hit_rate.pct
metrics=$metrics,dram__bytes_read.sum,dram__bytes_read.sum.per_second,smsp__sass_thread_inst_executed_op_fadd_pred_on.sum
metric-config --chip GH100 -m $metrics --no-native -o plan.cwc
capture-agent range -c plan.cwc -o mux.cwd --replay multiplex --sim-kernels 300 --sim-seed 5 -- true
capture-agent range -c plan.cwc -o batch.cwd --sim-loop 3 --sim-kernels 300 --sim-seed 5 -- true
metric-eval show mux.cwd | grep ^ranges
echo "--- the table"
metric-eval mux.cwd
echo "--- one in full"
metric-eval mux.cwd --kernel sim_kernel_1 | sed 's/process [0-9]*/process N/' | grep -v launch__ | sed '/registers_per_thread/d'
echo "--- files"
metric-eval mux.cwd --tidy --csv - | columns range,name,metric,unit,value,status,occurrences,spread
metric-eval mux.cwd --by kernel --tidy --csv - | head -3 | cut -d, -f1,4,12-
metric-eval mux.cwd --by kernel --csv - -m sm__inst_executed.sum | head -3 | cut -d, -f1,4,12-
metric-eval mux.cwd --tidy --csv - --sort sm__inst_executed.sum --top 1 -m sm__inst_executed.sum |
    columns range,name,metric,unit,value,status,occurrences,spread
metric-eval mux.cwd --json - | python3 -c '
import json, sys
data = json.load(sys.stdin)
print([r["range"] for r in data["ranges"]], data["capture"]["ranges"])
print(data["ranges"][1]["metrics"][1])'
metric-eval mux.cwd -o mux.h5 --quiet >/dev/null
h5dump -H mux.h5 | grep -A4 -E 'DATASET "(value|occurrences|spread)"' | grep -E 'DATASET|DATATYPE|DATASPACE'
h5dump -a /range/status/flag_meanings mux.h5 | grep '(0)'
metric-eval export mux.cwd --format ndjson >rows.json
"$SOURCE/tests/support/follows_schema" "$SOURCE/data/schemas/rows.schema.json" --lines <rows.json
head -1 rows.json | sed 's/.*"metric"/"metric"/'
metric-eval export mux.cwd --format csv --tidy | wc -l
echo "--- as captured"
metric-eval mux.cwd --by range --tidy --csv - --range 0-8 -m sm__inst_executed.sum,dram__bytes_read.sum |
    columns range,name,metric,unit,value,status
echo "--- how a value came about"
metric-eval explain mux.cwd lts__t_sector_hit_rate.pct --range 4
metric-eval explain mux.cwd dram__bytes_read.sum.per_second --kernel sim_kernel_2 | head -3
metric-eval explain mux.cwd lts__t_sector_hit_rate.pct --format json | grep -E '"(range|launches|mixed|occurrences|status)"'
cat >compare.py <<'EOF'
# means of what was multiplexed against those of whole launches
import csv, subprocess, sys
def means(file):
    out = subprocess.run(["metric-eval", file, "--by", "kernel", "--tidy", "--csv", "-"], capture_output=True, text=True).stdout
    return {(r["group"], r["metric"]): (float(r["value"]), r["status"], int(r["launches"])) for r in csv.DictReader(out.splitlines())}
mux, batch = means("mux.cwd"), means("batch.cwd")
worst = 0
for key, (value, status, ranges) in mux.items():
    whole = batch[key][0]
    assert status == "multiplexed" and ranges == 100 == batch[key][2], (key, status)
    if "inst_executed" in key[1] and key[1].endswith(".sum"):
        assert value == whole, (key, value, whole)
    worst = max(worst, abs(value / whole - 1))
print("instructions are the same; all else within 0.2 %:", worst < 0.002)
EOF
echo "--- beside whole launches"
python3 compare.py
metric-eval diff mux.cwd batch.cwd | tail -2
metric-eval merge mux.cwd batch.cwd -o both.cwd; metric-eval merge mux.cwd mux.cwd -o twice.cwd
metric-eval both.cwd --tidy --csv - -m sm__inst_executed.sum | columns status | sort | uniq -c # whole ones stay by themselves
metric-eval twice.cwd --tidy --csv - -m sm__inst_executed.sum | columns range,name,metric,unit,value,status,occurrences,spread
metric-eval mux.cwd --by range --csv - -m sm__inst_executed.sum | grep -c 'not collected'
capture-agent range -c plan.cwc -o some.cwd --replay multiplex --sim-kernels 300 --sim-seed 5 --exclude sim_kernel_0 -- true
metric-eval merge mux.cwd some.cwd -o filters.cwd # described in two ways, the GPU is one
metric-eval filters.cwd --tidy --csv - -m sm__inst_executed.sum | columns range,name,metric,unit,value,status,occurrences,spread
echo "--- steps that the program numbers"
cat >program <<'END'
exec >$COUNTERWORKS_SIM
for step in 1 2 3 4 5 6; do echo push step $step; echo launch gemm; echo pop; done
END
capture-agent range -c plan.cwc -o steps.cwd --replay multiplex --ranges user --sim-loop 1 -- sh program
metric-eval steps.cwd --tidy --csv - -m sm__inst_executed.sum,dram__bytes_read.sum |
    columns range,name,metric,unit,status,occurrences
metric-eval steps.cwd --by kernel -m sm__inst_executed.sum | grep step
metric-eval explain steps.cwd sm__inst_executed.sum --range 'step *' | head -3
echo "--- the page"
metric-eval mux.cwd --report page.html --quiet; grep -c '"occurrences":\[' page.html
