# Lines that a terminal is too narrow for break between words; files and pipes get them whole.
C=$SOURCE/data/captures
explain=sm__throughput.avg.pct_of_peak_sustained_elapsed
terminal() { script -qec "stty cols 100; $*" /dev/null </dev/null | tr -d '\r'; }
here=$PWD; cd "$C" || exit 1
for command in "metric-config --chip GH100 --for-advice --explain" "metric-eval explain transformer.cwd $explain --range 99" \
    "metric-eval explain transformer.cwd latency --range 99" "metric-query legacy --chip GH100" "metric-query sets" "metric-query chips" "metric-query sets PmSampling" \
    "capture-agent trace --list-kinds"; do
    echo "== $command"
    terminal "$command 2>/dev/null" | awk 'length > 100 { print length ": " $0 } END { print (NR > 10) }'
    terminal "$command 2>/dev/null" | tr -s ' \n' '  ' | cmp - <($command 2>/dev/null | tr -s ' \n\t' '   ')
done
terminal metric-query units --chip GH100 | awk 'length > 100 { print length ": " $0 } END { print (NR > 10) }'
terminal metric-eval explain transformer.cwd $explain --range 99 | sed -n '4,6p;/= 100/,/= 100/p;/^  counter/,/^  idc__request/p' | head -n 12
terminal metric-config --chip GH100 -m $explain --explain | tail -n 2
terminal metric-query legacy --chip GH100 | sed -n 1,5p
terminal metric-query legacy --chip GH100 atomic_transactions_per_request | sed -n '/formula/,/measured/p'
echo "== names have the room that other columns leave"
for width in 100 120; do
    for command in "join trace_train.cwd transformer.cwd pc_gemm.cwd" pm_stream.cwd; do
        terminal "stty cols $width; metric-eval $command" | awk -v w=$width 'length > w && /^  / { print length ": " $0 } END { print (NR > 5) }'
    done
done
echo "== letters of two columns, and marks of none"
python3 - >"$here/wide.json" <<'END'
import json
names = "核関数" * 15, "e\u0301" * 45, "\U0001f680" * 30, "plain" * 12, "短い"
kernels = [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 1000 + 20 * i, "dur": 10 - i,
            "args": {"device": 0, "context": 1, "stream": 7, "correlation": i}} for i, name in enumerate(names)]
print(json.dumps({"baseTimeNanoseconds": 1743521598000000000, "traceEvents": kernels}))
END
terminal metric-eval "$here/wide.json" -q --by kernel | python3 -c '
import sys, unicodedata
for line in sys.stdin:
    print(sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "FW") for c in line[:-1]), line, end="")'
