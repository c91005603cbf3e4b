# What can be measured: lists, descriptions and sets, without a GPU.
metric-query chips
metric-query sets | sed 's/  */ /g' | cut -d' ' -f1,2 | head -3
# formulas and facts apart
metric-query list --chip GH100 | cut -f2 | grep -cvE 'formula|fact'
metric-query list --chip GH100 --all-submetrics | grep -cvE '^(launch|roofline|device)__|sm__maximum_warps_'
metric-query list --chip GH100 --all-submetrics | sort | uniq -d | wc -l
metric-query list --chip GH100 --unit dram --search '^dram__bytes'
metric-query list --chip GH100 --type ratio --search lts__t_request_hit --format csv
metric-query list --chip gh100 --type ratio --search lts__t_request_hit --format json --all-submetrics
metric-query list --chip GH100 --search no_such_thing --format json
metric-query describe --chip GH100 lts__t_sector_hit_rate.pct sm__inst_executed.avg.per_cycle_active | sed 's/passes .* [0-9]* when/passes N when/'
metric-query describe --chip GH100 --format json dram__bytes.sum.per_second | head -8
# as metric-eval explain has it
metric-query describe --chip GH100 l1tex__average_t_sectors_per_request.pct | grep '^  formula'
# every metric that a list names can be planned or is known not to have a formula
metric-query list --chip GH100 --type throughput --unit dram | cut -f1 >names.txt
metric-config --chip GH100 --metrics-file names.txt -o plan.cwc && echo planned
metric-query lint --chip GH100 >findings.txt; echo "status $?"
# a counter is recorded, or follows from recorded ones; where its minimum is recorded, so is its sum
planned() {
    metric-config --chip GH100 -m "$1" --no-native -o plan.cwc
    capture-agent range --sim-kernels 3 --backend sim -c plan.cwc -o run.cwd -- true
    metric-eval run.cwd --all --tidy --csv - | columns metric | grep -E '\.(sum|min)$' | sort -u | xargs
}
planned dram__bytes_read.sum
planned sm__inst_executed.sum
planned sm__inst_executed.sum,sm__inst_executed.min
metric-query describe --chip GH100 dram__bytes dram__bytes_read gpu__time_duration dram__sectors_read l1tex__t_sectors_pipe_tex | grep -E '^[a-z]|derived|evidence'
