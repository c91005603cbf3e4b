# Samples of several processes or GPUs joined: over time, of instructions, and SASS metrics. Each keeps its devices; code that all ran stands once.
metric-config --chip GH100 --profiler pm --no-native -m sm__inst_executed_realtime.sum,sm__cycles_active.avg -o pm.cwc
for device in 0 1; do
    capture-agent pm -c pm.cwc --device $device --sim-seed $device --sim-drop $device -o pm.$device.cwd -- true
done
metric-eval merge pm.*.cwd -o pm.cwd
metric-eval show pm.cwd | grep -E '^(samples|launches|dropped|end|device)'
metric-eval pm.cwd --json - | python3 -c '
import collections, json, sys
all = json.load(sys.stdin)
print(collections.Counter(s["device"] for s in all["samples"]), collections.Counter(l["device"] for l in all["launches"]))'
for device in 0 1; do
    metric-eval pm.$device.cwd --csv - | sed 1d | cut -d , -f 2-
done >apart
metric-eval pm.cwd --csv - | sed 1d | cut -d , -f 2- | cmp - apart && echo the samples are those of the two
for name in pc_gemm sass_gemm; do
    one=$SOURCE/data/captures/$name.cwd
    metric-eval merge "$one" "$one" -o both.cwd
    for file in "$one" both.cwd; do
        metric-eval show "$file" | grep -E '^(samples|records|modules|dropped|end|device)'
    done
done
echo kinds do not mix:
metric-eval merge pm.0.cwd "$SOURCE/data/captures/pc_gemm.cwd" -o none.cwd; echo "status $?"
metric-eval merge "$SOURCE/data/captures/sass_gemm.cwd" pm.1.cwd -o none.cwd; echo "status $?"
metric-config --chip GH100 --profiler pm --no-native -m dram__bytes_read.sum -o other.cwc
capture-agent pm -c other.cwc -o other.cwd -- true
metric-eval merge pm.0.cwd other.cwd -o none.cwd; echo "status $?"
[ -e none.cwd ] || echo nothing was written

echo == PC samples of another interval or mode, which do not add up
for period in 5 8; do capture-agent pc --backend sim --period $period -o pc.$period.cwd -- true; done
capture-agent pc --backend sim --period 5 --mode serialized -o pc.alone.cwd -- true
metric-eval merge pc.5.cwd pc.8.cwd -o none.cwd; echo "status $?"
metric-eval merge pc.5.cwd pc.alone.cwd -o none.cwd; echo "status $?"
capture-agent pc --backend sim -o pc.none.cwd -- sh -c 'echo wait 1 >$COUNTERWORKS_SIM' 2>/dev/null
metric-eval merge pc.none.cwd pc.5.cwd pc.8.cwd -o none.cwd; echo "status $?"
metric-eval pc.5.cwd pc.8.cwd >/dev/null; echo "status $?"
metric-eval merge pc.5.cwd pc.5.cwd -o same.cwd; echo "status $?"
