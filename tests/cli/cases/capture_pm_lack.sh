# A unit that a GPU lacks, or that is not up, costs its own counters alone; on the simulated GPU.
metric-config --chip GH100 --profiler pm --no-native -o plan.cwc \
    -m sm__cycles_active.avg,nvlrx__bytes.sum.per_second,nvltx__bytes.sum.per_second 2>/dev/null
capture-agent pm -c plan.cwc -o run.cwd --device 0,1 --sim-lack nvlrx --sim-samples 8 -- true
metric-eval run.cwd
metric-eval run.cwd --csv - | sed -n '1,4p'
echo nothing is left:
metric-config --chip GH100 --profiler pm --no-native -o links.cwc -m nvlrx__bytes.sum,nvlrx__bytes_data_user.sum 2>/dev/null
capture-agent pm -c links.cwc -o none.cwd --sim-lack nvlrx -- true
echo "status $?"
echo no time trigger:
metric-config --chip GA100 --profiler pm --no-native -o ampere.cwc -m sm__cycles_active.avg 2>/dev/null
capture-agent pm -c ampere.cwc -o ampere.cwd --interval 50us --sim-samples 8 -- true
metric-eval show ampere.cwd | grep interval
metric-eval ampere.cwd | head -1
echo ranges:
metric-config --chip GH100 --no-native -o ranges.cwc -m sm__cycles_active.avg,nvlrx__bytes.sum 2>/dev/null
capture-agent range --sim-kernels 3 -c ranges.cwc -o ranges.cwd --sim-lack nvlrx -- true
metric-eval ranges.cwd --tidy --csv - | columns range,name,kernel,metric,unit,value,status | grep nvlrx
echo ranges of a real H100 without NVLink:
metric-eval "$SOURCE/data/captures/atomics.cwd" -m sm__cycles_active.sum,nvlrx__bytes.sum --tidy --csv - | columns metric,unit,value,status | sed -n '2,3p'
