# CUPTI's list of metrics for PM sampling, beside that of range profiling.
for chip in GH100 GB100 GA100 GA102 TU102 GV100; do
    for profiler in range pm; do
        echo "$chip $profiler: $(for type in counter ratio throughput; do
            metric-query list --chip $chip --profiler $profiler --type $type | wc -l
        done | xargs)"
    done
done
metric-query list --chip GH100 --type counter | cut -f1 | sort >range.txt
metric-query list --chip GH100 --profiler pm --type counter | cut -f1 | sort >pm.txt
echo "in both: $(comm -12 range.txt pm.txt | wc -l)"
metric-query list --chip GH100 --profiler pm --unit crop --type counter --format csv
metric-query list --chip GH100 --profiler pm --type fact | wc -l
metric-query list --chip GH100 --profiler both; echo "status $?"
# a plan takes counters of its profiler's list alone
metric-config --chip GH100 --profiler pm -m gr__dispatch_count.sum --no-native --explain | tail -1
metric-config --chip GH100 -m gr__dispatch_count.sum --no-native --explain; echo "status $?"
metric-config --chip GH100 --profiler pm -m lts__t_sectors_lookup_hit.sum --no-native --explain; echo "status $?"
metric-config --chip GH100 --profiler pm -m dramc__read_throughput.avg.pct_of_peak_sustained_elapsed --no-native --explain; echo "status $?"
# metrics that NVIDIA recommends for sampling: each is planned, or the refusal names metrics that are
suffix=.avg.pct_of_peak_sustained_elapsed
plan() { metric-config --chip "$1" --profiler pm -m "$2" --no-native -o pm.cwc 2>&1; }
for chip in GA100 GB100; do
    for name in gr__dispatch_count tpc__warps_inactive_sm_active_realtime dramc__read_throughput pcie__read_bytes; do
        refusal=$(plan $chip $name$suffix) && continue
        echo "$chip $name: $(echo "$refusal" | grep -o ': found [0-9]* passes\|, which CUPTI does not\|no formula\|does not have')"
        for other in $(echo "$refusal" | sed -e 's/.*the most alike here: //' -e 's/.*did you mean //' -e 's/[?;] *it is .*//I' -e 's/,//g'); do
            plan $chip "${other%$suffix}$suffix" >why.txt && echo "  $other" || cat why.txt
        done
    done
done
metric-config --chip GH100 --profiler pm -m lts__t_sectors_lookup_hit.sum,lts__t_sectors.sum --drop --no-native --explain | grep '^lts'
# a metric without a domain is left out as one that is not listed
for chip in GB100 GB202; do
    metric-config --chip $chip --profiler pm -m sm__cycles_active.sum,pda__cycles_active.sum --drop --no-native -o pm.cwc; echo "status $?"
done
metric-config --chip GB100 --profiler pm -m pda__cycles_active.sum --no-native -o pm.cwc; echo "status $?"
# what ranges divide by is sampled under another name
metric-config --chip GB100 --profiler pm -m nvlrx__bytes.avg.pct_of_peak_sustained_elapsed --no-native -o pm.cwc
metric-config --chip GB100 -m nvlrx__bytes.avg.pct_of_peak_sustained_elapsed --no-native -o range.cwc
for plan in pm range; do grep -ao '[a-z]*__cycles_elapsed' $plan.cwc | sort -u; done
# metrics of a capture of ranges are those of ranges
metric-eval $SOURCE/data/captures/whole_stream.cwd --all --csv - | grep -c 'average_t_sector_op_read' || true
metric-query list --chip GV100 --profiler pm
