# What clocks the GPUs ran at where a capture began and where it ended, in every kind of file, and where they moved.
metric-config --chip GH100 --set demo -o plan.cwc >/dev/null 2>&1
metric-config --chip GH100 --profiler pm -m sm__cycles_active.avg -o pm.cwc >/dev/null 2>&1
cat >slows <<'END'
exec >$COUNTERWORKS_SIM
echo clocks 1980 2619; echo launch a; echo clocks 1200 2619; echo launch b; echo clocks 1755 2619
END
cat >steady <<'END'
exec >$COUNTERWORKS_SIM
echo clocks 1980 2619; echo launch a; echo clocks 1965 2619
END
capture-agent range -c plan.cwc -o slows.cwd -- sh slows
capture-agent range -c plan.cwc -o steady.cwd -- sh steady
capture-agent range --sim-kernels 3 -c plan.cwc -o unknown.cwd -- true
for name in slows steady unknown; do
    echo "$name:"
    metric-eval show $name.cwd | grep clocks
    metric-eval show $name.cwd --format json | python3 -c '
import json, sys
for device in json.load(sys.stdin)["devices"]:
    print([(c["moved"], [(r["sm_mhz"], r["memory_mhz"], r["limits"]) for r in c["readings"]]) for c in device.get("clocks", [])])'
    metric-eval $name.cwd | grep clocks
done
echo compared:
capture-agent range -c plan.cwc -o again.cwd -- sh steady
for b in slows again unknown; do metric-eval diff steady.cwd $b.cwd -m sm__inst_executed.sum | grep clocks; done
echo merged:
metric-eval merge -o all.cwd steady.cwd slows.cwd unknown.cwd
metric-eval show all.cwd | grep clocks
echo samples and instructions:
capture-agent pm -c pm.cwc -o pm.cwd -- sh slows
metric-eval show pm.cwd | grep clocks
metric-eval pm.cwd | grep clocks
capture-agent pc -o pc.cwd -- sh slows
metric-eval show pc.cwd | grep clocks
echo on the page:
metric-eval slows.cwd --report slows.html
grep -o 'clocks moved from [^"]*' slows.html | sort -u
