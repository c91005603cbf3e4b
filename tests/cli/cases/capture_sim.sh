# Plan, capture on the simulated GPU, evaluate: the whole path without a GPU, and the same bytes for the same seed.
metric-config --chip GH100 -m gpu__time_duration.sum,sm__inst_executed.sum,sm__inst_executed.avg.per_cycle_active \
    -m lts__t_sector_hit_rate.pct,dram__bytes_read.sum.per_second --no-native -o plan.cwc
capture-agent range -c plan.cwc -o run.cwd --sim-seed 7 --sim-kernels 2 -- sh -c 'echo the program runs'
metric-eval run.cwd --csv - | cut -d, -f1-4,8-13,16-
metric-eval run.cwd --tidy --csv - | columns range,name,metric,unit,value,status
metric-eval show run.cwd | grep -E 'chip|passes|ranges|simulated|end'
metric-eval run.cwd -o run.h5 --json run.json >/dev/null
h5dump -n run.h5 | grep -E 'dataset|group' | sed 's/  */ /g'
metric-config --chip GH100 -m gpu__time_duration.sum,sm__inst_executed.sum,sm__inst_executed.avg.per_cycle_active \
    -m lts__t_sector_hit_rate.pct,dram__bytes_read.sum.per_second --no-native -o again.cwc
cmp plan.cwc again.cwc && echo the plan has the same bytes
