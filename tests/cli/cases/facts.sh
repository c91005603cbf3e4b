# Facts of launches and devices are metrics that need no counter: listed, planned, captured and evaluated like others.
metric-query list --chip GH100 --type fact | wc -l
metric-query list --chip TU102 --type fact --format csv | head -3
metric-query describe --chip GH100 launch__registers_per_thread
metric-query describe --chip GH100 sm__maximum_warps_per_active_cycle_pct | grep -v formula
metric-query describe --chip GH100 launch__waves_per_multiprocessor --format json | grep passes
metric-query list --chip GH100 --search "theoretical occupancy" 2>&1 | head -2 | cut -f1
# a plan of facts alone counts the time, so that there is something to capture
metric-config --chip GH100 -m launch__grid_size,launch__waves_per_multiprocessor --no-native -o facts.cwc --explain | head -1
capture-agent range -c facts.cwc -o facts.cwd --sim-seed 3 --sim-kernels 2 -- true
metric-eval facts.cwd -m launch__grid_size,launch__block_size,launch__thread_count,launch__registers_per_thread,launch__occupancy_limit,sm__maximum_warps_per_active_cycle_pct,device__attribute_warp_size --tidy --csv - | columns metric,unit,value,status
metric-eval explain facts.cwd launch__occupancy_limit_warps
# everything that a capture has: facts are among it, and rooflines where their counters are
metric-eval facts.cwd --all --tidy --csv - | columns metric | grep -E '^(launch__occupancy|device__attribute_(warp|multi)|roofline__fr)' | sort -u
# an old capture has what ranges and devices say; samples have no launches
metric-eval "$SOURCE/data/captures/gemm.cwd" -m launch__grid_size,launch__registers_per_thread,device__attribute_multiprocessor_count,launch__waves_per_multiprocessor --tidy --csv - | columns metric,unit,value,status
metric-eval "$SOURCE/data/captures/pm_gemm.cwd" -m launch__grid_size,device__attribute_warp_size --tidy --csv - | columns metric,unit,value,status | head -3
# a user's formulas may use them, and may not be called like them
printf 'schema: 1\nmetrics:\n  work: {formula: launch__thread_count / launch__grid_size, unit: threads/blocks}\n' >own.yaml
metric-eval facts.cwd --metrics-db own.yaml -m work --tidy --csv - | columns metric,unit,value,status
printf 'schema: 1\nmetrics:\n  launch__waves_per_multiprocessor: {formula: 1}\n' >own.yaml
metric-eval facts.cwd --metrics-db own.yaml -m launch__grid_size; echo "status $?"
# one kernel in full has what a capture knows of its launch, whatever was planned; what it does not know is left out
metric-eval "$SOURCE/data/captures/facts.cwd" --kernel with_registers --quiet
metric-eval "$SOURCE/data/captures/facts.cwd" --wide --quiet | grep -c 'launch__occupancy_limiter .* [1-4]  [a-z]'
metric-eval "$SOURCE/data/captures/facts.cwd" --kernel plain -m gpu__time_duration.sum --quiet | grep launch__
metric-eval "$SOURCE/data/captures/gemm.cwd" --quiet | grep launch__ || echo "no facts of the launch"
