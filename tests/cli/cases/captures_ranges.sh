# Captures of data/captures/workloads/nvtx.cu and of PyTorch on an H100: user ranges nest, and add up; launches know the
# ranges around them; what was complete before a crash is there.
cat >print.py <<'EOF'
import json, sys
text = sys.stdin.read()
for r in json.loads(text[text.index("{"):])["ranges"]:
    value = {m["name"]: m["value"] for m in r["metrics"]}
    a = r.get("attributes", {})
    print(f'{r["name"]:42} {a.get("nvtx", "-"):30} {a["replay"]:12} {a.get("runs", "-"):7}', value["sm__inst_executed.sum"])
EOF
for name in nvtx_levels nvtx_user nvtx_batch nvtx_runs torch_steps; do
    echo "== $name"
    metric-eval "$SOURCE/data/captures/$name.cwd" -m sm__inst_executed.sum --json - | python3 print.py
done
echo == nvtx_trap
metric-eval show "$SOURCE/data/captures/nvtx_trap.cwd" 2>&1 | grep -E 'incomplete|^(ranges|end)'
# the launches of a range add up to it: three kernels of 458752, 622592 and 458752 instructions
metric-eval "$SOURCE/data/captures/nvtx_batch.cwd" -m sm__inst_executed.sum --json - | python3 -c '
import json, sys
step = [r for r in json.load(sys.stdin)["ranges"] if r["attributes"]["nvtx"].startswith("solve")]
print(sum(r["metrics"][0]["value"] for r in step))'
echo == ranges within others are in the time of these
for by in device stream rank; do metric-eval "$SOURCE/data/captures/nvtx_user.cwd" --by $by -q | grep "ranges take"; done
metric-eval "$SOURCE/data/captures/nvtx_user.cwd"
metric-eval "$SOURCE/data/captures/nvtx_user.cwd" --range solve/ | head -n 4
metric-eval "$SOURCE/data/captures/nvtx_levels.cwd" | head -n 6
metric-eval diff "$SOURCE/data/captures/nvtx_user.cwd" "$SOURCE/data/captures/nvtx_user.cwd" | grep ^time
echo == a range within another one of another rank
metric-config --chip GH100 -m gpu__time_duration.sum --no-native -o time.cwc
of() { PMI_RANK=$1 PMI_SIZE=2 capture-agent range -c time.cwc --ranges user --levels 2 --range "$2" -o "r.$1.cwd" -- sh -c 'exec >$COUNTERWORKS_SIM; printf "push step\npush read\nlaunch k\npop\npop\n"'; }
of 0 '^step$'; of 1 read
metric-eval merge r.0.cwd r.1.cwd -o ranks.cwd -q
for by in rank device; do metric-eval ranks.cwd --by $by -q --csv - | columns group,total_ns | sed 1d; done
metric-eval export ranks.cwd --format folded
