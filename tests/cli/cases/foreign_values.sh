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
