# One file for each process, named by it, and all of them joined again.
metric-config --chip GH100 -m sm__inst_executed.sum --no-native -o plan.cwc
cat >program <<'EOF'
exec >$COUNTERWORKS_SIM
echo process 11 worker 0; echo launch a; echo process 12 worker 1; echo device 1; echo launch b
echo process 11 worker 0; echo device 0; echo launch c
EOF
JOB=night capture-agent range -c plan.cwc -o 'run.%q{JOB}.%r.%p.cwd' -- sh program; ls run.*.cwd
capture-agent range -c plan.cwc -o 'host.%h.cwd' -- sh program; [ -e "host.$(hostname).cwd" ] && echo the host is in the name
capture-agent range -c plan.cwc -o 'run.%x.cwd' -- sh program; echo "status $?"
PMI_RANK=5 capture-agent range --sim-kernels 3 -c plan.cwc -o 'own.%r.cwd' -- true; ls own.*
metric-eval merge run.night.*.cwd -o all.cwd
metric-eval all.cwd --json - | python3 -c '
import json, sys
all = json.load(sys.stdin)
for r in all["ranges"]:
    print(r["name"], "device", r["device"], "process", r["process"], "rank", r["attributes"]["rank"])
print(all["capture"]["ranks"], [d["device"] for d in all["capture"]["devices"]])'
metric-eval show all.cwd | grep -E 'ranges|end'
# two processes that see one GPU each, both as number 0
cat >two <<'EOF'
exec >$COUNTERWORKS_SIM
echo process 21 worker 0; echo device 0 0000:07:00.0; echo launch a
echo process 22 worker 1; echo device 0 0000:06:00.0; echo launch b
EOF
capture-agent range -c plan.cwc -o two.cwd -- sh two; metric-eval show two.cwd | grep -E '^device|pci'
# a device that another node numbers alike is another device; one plan only; an incomplete part stays incomplete
capture-agent range --sim-kernels 3 -c plan.cwc -o one.cwd --sim-seed 1 -- true
capture-agent range --sim-kernels 3 -c plan.cwc -o two.cwd --sim-seed 2 --sim-drop 1 -- true
metric-eval merge one.cwd two.cwd -o both.cwd; metric-eval show both.cwd | grep -E 'device|ranges|drop|end'
head -c -40 two.cwd >short.cwd
metric-eval merge short.cwd one.cwd short.cwd -o three.cwd
metric-eval merge one.cwd short.cwd -o both.cwd; metric-eval show both.cwd 2>&1 | grep -E 'ranges|incomplete'
metric-config --chip GH100 -m dram__bytes_read.sum --no-native -o other.cwc
capture-agent range --sim-kernels 3 -c other.cwc -o other.cwd -- true
metric-eval merge one.cwd other.cwd -o both.cwd; echo "status $?"
metric-eval merge one.cwd plan.cwc -o both.cwd; echo "status $?"
metric-eval merge one.cwd 2>&1 | head -1
