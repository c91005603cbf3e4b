# What a high or low value tells; every name that the glossary says it of is one of a chip. And the chip of a file.
capture=$SOURCE/data/captures/gemm.cwd
metric-query describe --chip GH100 smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio sm__throughput | grep -E "^(s|  in practice)" -A1
metric-query describe --chip GH100 sm__warps_active.avg.pct_of_peak_sustained_active --format json | grep reading
metric-query describe --chip GH100 lts__t_tag_requests.sum | grep -c "in practice"
sed -n '/^readings:/,$p' "$SOURCE/data/glossary.yaml" | sed -nE 's/^  ([a-z_0-9]+): .*/\1/p' >names
xargs metric-query describe --chip GH100 <names | grep -c "in practice" | diff - <(wc -l <names) && echo all are read
metric-query describe --chip-of "$capture" sm__throughput | sed -n 1,2p
metric-config --chip AD102 --no-native -m sm__inst_executed.sum -o plan.cwc
metric-query list --chip-of plan.cwc --search "l2 hit rate" 2>/dev/null | head -1
metric-query sets speed-of-light --chip-of - <plan.cwc | sed -n 2p
metric-config --chip-of "$capture" --no-native -m sm__inst_executed.sum --explain | head -1
metric-query describe --chip-of "$SOURCE/README.md" sm__throughput; echo "status $?"
metric-query describe --chip-of "$capture" --chip AD102 sm__throughput; echo "status $?"
echo "== in a terminal of 80 columns"
script -qec "stty cols 80; metric-query describe --chip GH100 lts__t_sector_hit_rate.pct" /dev/null | tr -d '\r'
