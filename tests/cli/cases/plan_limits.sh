# passes that are limited, metrics that stay together, and why a plan is as it is
M=lts__t_sector_hit_rate.pct,l1tex__t_sector_hit_rate.pct,dram__bytes_read.sum,sm__inst_executed.avg.per_cycle_active
plan() { metric-config --chip GH100 --no-native "$@"; echo "status $?"; }
plan -m $M --explain
plan -m $M --single-pass -o plan.cwc
plan -m $M --max-passes 1 --drop --explain
plan -m $M --profiler pm --drop -o plan.cwc
plan -m $M --keep-together lts__t_sector_hit_rate.pct,dram__bytes_read.sum -o plan.cwc
plan -m $M --keep-together lts__t_sector_hit_rate.pct -o plan.cwc
plan -m $M --keep-together dram__bytes_read.sum,l1tex__t_sector_hit_rate.pct --explain | grep -e dram__ -e l1tex__ -e status
plan -m $M --explain --format json | grep -e '"fewest"' -e '"without"' -e '"why": "'
plan -m $M --prefer passes --explain | tail -6
# whole where that is allowed, fewer passes where it is not
for most in 8 7 6; do
    plan --set warp-state --max-passes $most --explain 2>&1 | grep -e passes -e mixes -e status | cut -c1-110
done
plan -m $M --prefer most --explain
# passes that replay adds: none where the plan says none
plan --set demo --explain | grep 'replay add'
capture-agent range --backend sim -c <(metric-config --chip GH100 --set demo --no-native -o /dev/stdout) -o run.cwd -- true
plan --set demo --explain --format json | grep '"added"'
plan --set demo --prefer passes --explain --format json | grep '"added"'
plan -m $M --max-passes 0 -o plan.cwc
plan -m $M --drop -o plan.cwc
plan -m $M --profiler pm --max-passes 2 -o plan.cwc
# a chip without sampling, and the sets for it on one that has it
metric-config --chip GV100 --no-native --set pm-overview --profiler pm -o plan.cwc --force; echo "status $?"
plan --set pm-sampling --profiler pm --explain 2>&1 | grep -e ", 1 pass" -e status
