# Values of other profilers' files are as they wrote them, or not there.
times() { metric-eval "$1" -q --kind kernel --csv - | cut -d, -f1,2; }
echo "== microseconds since 1970, of more digits than a double has"
kernels() { # TS DUR..: two events a pair
    printf '{"traceEvents": ['
    while [ $# -gt 0 ]; do
        printf '{"ph": "X", "args": {"device": 0, "stream": 7, "ts": 1}, "cat": "kernel", "name": "k", "ts": %s, "dur": %s}' "$1" "$2"
        shift 2
        [ $# = 0 ] || printf ', '
    done
    printf ']}'
}
kernels 1700000000000000 1 1700000000000003 1 1700000000000006.001 0.1 '"1700000000000009.5"' 1e-1 1.7000000000000125e15 0.001 >us.json
times us.json
{ printf '{"baseTimeNanoseconds": 1700000000000000001, '; kernels 1.001 0.999 3 0 | cut -c2-; } >base.json
times base.json
echo "== events without a time"
lost() { counterworks "$1" 2>&1 | sed -n '1,2p;/^Lost/p'; metric-eval show "$1" | grep ^untimed; times "$1"; }
kernels 1700000000000000 1 0 0 1700000000000001 -1 null 1 1700000000000002 null -1 0 1700000000000003 '"inf"' 1700000000000004 2 | sed 's/"ts": null, //' >untimed.json
lost untimed.json
kernels 0 0.001 0.005 0 >zero.json
lost zero.json
{ printf '{"baseTimeNanoseconds": 1700000000000000001, '; kernels -1700000000000000.001 0 0 0 1 1 | cut -c2-; } >base.json
lost base.json
sqlite3 untimed.sqlite "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);
INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 0, 0, 7), (1000, 2000, 0, 7), (NULL, 3000, 0, 7), (4000, NULL, 0, 7), (9223372036854775807, 9223372036854775807, 0, 7), (-1800000000000000000, 5000, 0, 7), (7000, 6000, 0, 7), (0, 10, 0, 7);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER);
INSERT INTO NVTX_EVENTS VALUES (0, 0, 59, 'untimed', 1), (500, NULL, 59, 'open', 1), (500, 2500, 59, 'step', 1);"
lost untimed.sqlite
echo "== numbers of ncu in locales"
head='"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC"'
metrics() { # VALUE..: the time of a launch each
    printf '%s,"Section Name","Metric Name","Metric Unit","Metric Value"\n' "$head"
    id=0
    for value; do
        printf '"%d","1","a","h","k","1","7","(32, 1, 1)","(1, 1, 1)","0","9.0","x","gpu__time_duration.sum","usecond","%s"\n' $id "$value"
        id=$((id + 1))
    done
}
column() { cut -d, -f"$(head -1 "$2" | tr , '\n' | grep -n "^$1\$" | cut -d: -f1)" "$2" | tail -n +2; }
metrics 1234.5 1,234.5 1,234,567 12 0 0.25 -1.5 1.844674407370955e+19 1E3 '1,234.5 (1; 2,3; 4)' n/a nan '(!) nan' '' ' 5' >c.csv
metric-eval c.csv -q -m gpu__time_duration.sum --csv table.csv && column gpu__time_duration.sum table.csv
for value in 1.234,5 '1 234,5' '1 234.5' '1’234.5' "1'234.5" 12,5 0,125 1234,567 12,34,567 1,234,56 1.234.567 1,234e 1. ,5 .5 12.5% 0x10; do
    metrics 2 "$value" >other.csv; metric-eval other.csv -q; echo "status $?"
done
{ printf '%s,"gpu__time_duration.sum","smsp__inst_executed.sum","launch__registers_per_thread","launch__func_cache_config"\n"","","","","","","","","","","","us","inst","register/thread",""\n' "$head"
  printf '"0","4.711","a","h","k","1","7","(1,024, 1, 1)","(1.000, 64, 1)","0","9.0","1.5","1,000","32","1,5"\n'
  printf '"1","1","a","h","k","1","7","(32, 1, 1)","(64, 1, 1)","0","9.0","1.5","1,000","32,0","1"'; } >wide.csv
metric-eval wide.csv -q
head -3 wide.csv >good.csv; metric-eval good.csv -q --csv table.csv && for name in process grid_x grid_y grid_z block_x smsp__inst_executed.sum; do column $name table.csv; done
sed '3s/"9.0"/"2.0"/' wide.csv >chip.csv; metric-eval chip.csv -q
echo "== kernels of an unknown shape"
kernels 1700000000000000 1 >shape.json
kernels 1700000000000000 1 1700000000000009 1 | sed 's/"stream": 7\(.*"stream": 7\)/"stream": 7, "grid": [64, 1, 1], "block": [256, 1, 1], "registers per thread": 0\1/' >both.json
for file in shape both; do
    metric-eval $file.json -q --kind kernel --csv - | cut -d, -f3-
    metric-eval $file.json -q --json - | grep "\"stream\""
done
metric-eval both.json -q -o both.h5 && h5dump -d /timeline/kernel/grid_x -d /timeline/kernel/registers_per_thread -y both.h5 | grep -A1 "^   DATA {"
metric-eval export both.json -o both.chrome.json -q && grep "\"kernel\"" both.chrome.json
metric-eval both.json -q --report both.html --force && grep -o '"shape":[^}]*' both.html
echo "== a time of 0 ns is known"
kernels 1700000000000000 0 1700000000000009 0 >none.json
kernels 1700000000000000 0.5 1700000000000009 0 >some.json
kernels 0 0 0 0 >unknown.json
metric-eval diff none.json some.json --format json | grep -o '"launch_ns".*'
for file in none unknown; do metric-eval diff $file.json some.json | grep -E "^A|^time"; done
metrics 0 0 >none.csv
metric-eval none.csv -q -o groups.csv --by kernel && cut -d, -f4-9 groups.csv
metric-eval none.csv | sed -n 2p
cp none.csv second.csv && cp none.csv third.csv && metric-eval gate --learn none.csv second.csv third.csv -o gate.yaml && metrics 5 0 >more.csv && metric-eval gate none.csv more.csv --rules gate.yaml 2>/dev/null | grep -B1 allowed
