# What of a trace is not there is said where somebody looks, and is not taken for idle time.
fail() { "$@" 2>&1 | sed "s|$SOURCE/||"; echo "status ${PIPESTATUS[0]}"; }
train=$SOURCE/data/captures/trace_train.cwd
echo == a process was killed
capture-agent trace -q --backend sim --sim-unfinished -o killed.cwd -- true 2>/dev/null
metric-eval killed.cwd | sed -n '1,20p'
echo == the file lacks its end
make_trace made.cwd launches=400; head -c 10500 made.cwd >half.cwd
metric-eval half.cwd | sed -n '1p; 4,5p'
metric-eval half.cwd --csv half.csv --kind kernel 2>&1 >/dev/null
echo == a part is damaged
cp made.cwd hit.cwd; head -c 64 /dev/zero | dd of=hit.cwd bs=1 seek=$(($(stat -c %s made.cwd) / 2)) conv=notrunc status=none
metric-eval hit.cwd | sed -n '1p; 4,5p' | sed 's/[0-9,]* bytes/N bytes/'
metric-eval hit.cwd --csv hit.csv --kind kernel 2>&1 >/dev/null | sed 's/offset [0-9]*/offset N/; s/[0-9]* bytes/N bytes/'
metric-eval show hit.cwd 2>/dev/null | grep '^end'
cp made.cwd hit.cwd; head -c 8 /dev/zero | dd of=hit.cwd bs=1 seek=$(($(grep -abo -m 1 TKND made.cwd | head -n 1 | cut -d: -f1) + 16)) conv=notrunc status=none
fail metric-eval hit.cwd | sed 's/offset [0-9]*/offset N/g'
echo == nothing is left of it
head -c 3000 "$train" >none.cwd
fail metric-eval none.cwd -q
fail metric-eval none.cwd --csv - --kind kernel
fail metric-eval export none.cwd --perfetto none.pftrace; ls none.pftrace 2>&1
metric-eval show none.cwd | grep ^end
fail metric-eval merge none.cwd "$train" -o merged.cwd
echo == of which kinds
make_trace dropped.cwd launches=300 dropped=3 untimed=2; metric-eval dropped.cwd | sed -n 4p
echo == traces of different times
make_trace other.cwd launches=50
metric-eval made.cwd "$train" | sed -n '1,6p'
metric-eval made.cwd made.cwd 2>&1 | sed -n '1,5p'
cp made.cwd copy.cwd; metric-eval merge made.cwd other.cwd -o both.cwd 2>/dev/null
metric-eval copy.cwd other.cwd both.cwd 2>&1 | sed -n '1,5p'
echo == gaps, and memory in use
metric-eval "$train" | sed -n '/^Why/,/^$/p; /^Memory/,/^$/p'
metric-eval "$train" --csv - --kind memory | python3 -c '
import csv, sys
rows = [r for r in csv.DictReader(sys.stdin) if r["memory"] == "device"]
rows.sort(key=lambda r: int(r["time_ns"]))
now = most = 0
for r in rows:
    now += int(r["bytes"]) * (1 if r["type"] == "allocate" else -1)
    if now > most:
        most, at = now, int(r["time_ns"])
print(f"device: {most / 1e6:.2f} MB at most, {now / 1e6:.2f} MB at the end; at {(at - int(sys.argv[1])) / 1e9:.3f} s")' "$(
    metric-eval "$train" --csv - --kind runtime | sed 1d | sort -n | head -1 | cut -d, -f1)"
echo == no row
metric-eval "$train" --filter 'total > 1e9' -q
echo == ranks
mkdir job; capture-agent trace -q --backend sim -o 'job/rank-%r.cwd' -- true
metric-eval index job; metric-eval job --rank 1 --by rank -q; fail metric-eval job --rank 7
echo == errors name options
fail metric-eval export "$train" --perfetto x --range a 2>&1 | head -1
fail metric-eval export "$train" --perfetto x --all
fail metric-eval advise "$train"
echo == the end is missing, so nobody knows whether more was launched
head -c 60000 "$train" >cut.cwd; metric-eval cut.cwd | sed -n '4p; /^Why/,/^$/p'; metric-eval show cut.cwd | grep -A 1 ^record
echo == ranges nested too deep
python3 - >deep.json <<'END'
import json
def event(category, name, start, duration, **more):
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": duration, **more}
events = [event("user_annotation", f"r{i}", 1000 + i, 5000 - 2 * i) for i in range(300)]
events.append(event("cuda_runtime", "cudaLaunchKernel", 2990, 5, args={"correlation": 1}))
events.append(event("kernel", "k", 3000, 5, args={"device": 0, "context": 1, "stream": 7, "correlation": 1}))
print(json.dumps({"baseTimeNanoseconds": 1743521598000000000, "traceEvents": events}))
END
metric-eval deep.json --by nvtx-each --csv - | wc -l
fail metric-eval deep.json --range r280
metric-eval export deep.json -o deep.pftrace
metric-eval deep.json --report deep.html
metric-eval deep.json -o deep.h5 --kind nvtx_range
