# PM sampling of a real H100: what the shipped captures say, and that launches stand in the samples that they made busy.
for name in pm_gemm pm_multi pm_stream; do
    echo "$name:"
    metric-eval show "$SOURCE/data/captures/$name.cwd" | grep -E 'samples|overflows|launches|end|interval'
    metric-eval "$SOURCE/data/captures/$name.cwd" | tail -n +2
done
# a launch of 47 us in a sample of 1 ms: the one sample with instructions
metric-eval "$SOURCE/data/captures/pm_gemm.cwd" -m TPC.TriageCompute.sm__inst_executed_realtime.sum --json - |
    awk 'match($0, /"start_ns": [0-9]+/) {
             start = substr($0, RSTART + 12, RLENGTH - 12) + 0
             match($0, /"end_ns": [0-9]+/); end = substr($0, RSTART + 10, RLENGTH - 10) + 0
             if (match($0, /"values": \[[0-9]+/)) {
                 if (substr($0, RSTART + 11, RLENGTH - 11) > 0) { low = start; high = end; busy++ }
             } else
                 print busy, "busy sample; the launch is", (start > low && end < high ? "inside" : "outside")
         }'
# a mean is of the samples in which the metric has a value: of warps per active cycle, of those in which something ran
warps=sm__warps_active_realtime.avg.per_cycle_active
metric-eval "$SOURCE/data/captures/pm_stream.cwd" -m $warps | grep $warps
metric-eval "$SOURCE/data/captures/pm_stream.cwd" -m $warps --tidy --csv - |
    awk -F, '$NF ~ /^ok/ { n++; sum += $(NF - 1) } END { printf "%.3f, of %d samples\n", sum / n, n }'
