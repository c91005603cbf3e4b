# PM sampling on the simulated GPU: samples with losses and launches beside, from plan to table, CSV, JSON and HDF5.
metric-config --chip GH100 --profiler pm --no-native -o plan.cwc \
    -m sm__cycles_active.avg,sm__inst_executed_realtime.sum,gr__cycles_active.max,dram__bytes_read.sum.per_second
capture-agent pm -c plan.cwc -o run.cwd --sim-seed 7 --sim-drop 4 --sim-overflow -- sh -c 'echo the program runs; exit 3'
metric-eval show run.cwd | grep -v database
metric-eval run.cwd
echo what was not asked for:
metric-eval run.cwd -m sm__cycles_active.max,sm__cycles_active.min,lts__t_sectors.sum
metric-eval run.cwd --csv - | sed -n '1,5p;$p'
metric-eval run.cwd --tidy --csv - | sed -n '1,5p;$p'
metric-eval run.cwd --json - | grep -c statuses
metric-eval run.cwd -o run.h5 >/dev/null
h5dump -n run.h5 | grep -E 'dataset|group' | sed 's/  */ /g'
echo a formula of rollups:
printf 'schema: 1\nmetrics:\n  balance: {formula: sm__cycles_active.max / sm__cycles_active.avg}\n' >own.yaml
metric-config --chip GH100 --profiler pm --no-native --metrics-db own.yaml -m balance -o own.cwc
capture-agent pm --backend sim -c own.cwc -o own.cwd -- true
metric-eval own.cwd --metrics-db own.yaml | grep -A2 metric
echo the greatest of a counter that follows from another, which is asked for by its sum:
metric-config --chip GH100 --profiler pm --no-native -o follows.cwc \
    -m dram__bytes_read.max.pct_of_peak_sustained_elapsed,dram__sectors_read.sum
capture-agent pm --backend sim -c follows.cwc -o follows.cwd -- true
metric-eval follows.cwd | grep -A3 metric
echo an interval in cycles, the device alone, for a while:
capture-agent pm -c plan.cwc -o alone.cwd --interval 250000sys --device 3 --duration 0.01 && metric-eval alone.cwd | head -1
capture-agent pm -c plan.cwc -o same.cwd --interval 250000sys --device 3 --duration 0.01
cmp alone.cwd same.cwd && echo the same bytes for the same seed
echo a capture that was cut keeps its whole blocks:
head -c 3400 run.cwd >cut.cwd
metric-eval cut.cwd --csv - | tail -1
echo windows, between which nothing is lost:
capture-agent pm -c plan.cwc -o windows.cwd --interval 5us --window 100us --every 1ms --sim-samples 50 -- true
metric-eval show windows.cwd | grep -E 'window|samples|dropped'
metric-eval windows.cwd -m gr__cycles_active.max | head -3
metric-eval show windows.cwd --format json | python3 -c '
import json, sys
pm = json.load(sys.stdin)["pm"]
print([(w["start_ns"] % 10**9, w["end_ns"] - w["start_ns"]) for w in pm["windows"]], "lost", pm["lost"])'
capture-agent pm -c plan.cwc -o windows.cwd --interval 5us --window 100us --every 1ms --duration 3.05ms && metric-eval windows.cwd | head -1
metric-eval merge -o both.cwd windows.cwd windows.cwd && metric-eval show both.cwd | grep windows
echo windows of user ranges:
cat >steps <<'END'
exec >$COUNTERWORKS_SIM
echo launch a; for i in 1 2; do echo push step $i; echo launch b; echo push step inner; echo launch c; echo pop; echo pop; echo launch d; done
END
capture-agent pm -c plan.cwc -o steps.cwd --range '^step' -- sh steps
metric-eval show steps.cwd | grep -E 'window|samples|filter'
metric-eval steps.cwd -m gr__cycles_active.max | tail -6
capture-agent pm -c plan.cwc -o none.cwd --range other -- sh steps
capture-agent pm -c plan.cwc -o none.cwd --range empty -- sh -c 'exec >$COUNTERWORKS_SIM; echo push empty; echo pop'
echo windows of launches:
capture-agent pm -c plan.cwc -o launches.cwd --kernel '^[bc]$' --launch-skip 1 -- sh steps
metric-eval show launches.cwd | grep -E 'window|samples|filter|launches:'
capture-agent pm -c plan.cwc -o launches.cwd --exclude '^[ab]$' --range '^step' -- sh steps
metric-eval show launches.cwd | grep -E 'window|samples|filter|launches:'
capture-agent pm -c plan.cwc -o none.cwd --kernel nothing -- sh steps
echo an interval at which the simulated GPU would lose none:
capture-agent pm -c plan.cwc -o fast.cwd --interval 10us --sim-drop 4 -- true
echo user ranges beside the samples:
metric-eval run.cwd --by nvtx
metric-eval run.cwd --by nvtx --top 1 -m sm__cycles_active.max
metric-eval run.cwd --by nvtx -m sm__cycles_active.avg --csv -
metric-eval run.cwd --by nvtx -m sm__cycles_active.avg -o ranges.h5 >/dev/null && h5dump -n ranges.h5 | grep nvtx | sed 's/  */ /g'
cat >nested <<'END'
exec >$COUNTERWORKS_SIM
echo launch a; echo push step; echo launch b; echo push "in'ner"; echo launch c; echo pop; echo pop; echo push open; echo launch d
END
capture-agent pm -c plan.cwc -o nested.cwd -- sh nested
metric-eval nested.cwd --by nvtx -m gr__cycles_active.max | grep range
capture-agent pm -c plan.cwc -o bare.cwd --no-trace -- sh nested
metric-eval bare.cwd --by nvtx
metric-eval run.cwd --by kernel
metric-eval run.cwd --by nvtx --sort name
metric-eval merge -o both.cwd run.cwd nested.cwd && metric-eval both.cwd --by nvtx
echo versions: $(for f in run bare; do od -An -tu2 -j8 -N4 $f.cwd; done)
echo who reads the capture may have enough:
(capture-agent pm -c plan.cwc -o - --duration 100; echo "status $?" >&2) | head -c 100 >/dev/null
echo errors:
capture-agent pm -c plan.cwc -o no.cwd --sim-samples 0 -- true
capture-agent pm -c plan.cwc -o no.cwd --interval 0us -- true
capture-agent pm -c plan.cwc -o no.cwd
capture-agent pm -c plan.cwc -o no.cwd --duration -1
capture-agent pm -c plan.cwc -o no.cwd --every 1s -- true
capture-agent pm -c plan.cwc -o no.cwd --window 2s --every 1s -- true
capture-agent pm -c plan.cwc -o no.cwd --window 100us -- true
capture-agent pm -c plan.cwc -o no.cwd --range step --duration 1
capture-agent pm -c plan.cwc -o no.cwd --range '(' -- true
capture-agent pm -c plan.cwc -o no.cwd --kernel '(' -- true
capture-agent pm -c plan.cwc -o no.cwd --kernel b --no-trace -- true
capture-agent pm -c plan.cwc -o no.cwd --launch-count 1 -- true
capture-agent pm -c plan.cwc -o no.cwd --sim-samples 3 --sim-drop 9 -- true
capture-agent range -c plan.cwc -o no.cwd -- true
metric-config --chip GH100 --no-native -m sm__inst_executed.sum -o ranges.cwc
capture-agent pm -c ranges.cwc -o no.cwd -- true
metric-eval run.cwd --range sim
metric-eval explain run.cwd sm__cycles_active.avg
