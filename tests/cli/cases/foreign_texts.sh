# A file of Kineto that another program wrote anew, with texts in place of numbers.
cat >kineto.json <<'END'
{"schemaVersion": 1, "baseTimeNanoseconds": 1743521598000000000, "traceEvents": [
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 40, "dur": 10,
        "args": {"device": "0", "context": "1", "stream": "7", "correlation": "1", "grid": ["8", 2.0, 1], "block": ["128", "x", -1]}}]}
END
metric-eval kineto.json --kind kernel -q --format csv | cut -d, -f 3-
# A text that is no number is unknown, not 0.
cat >words.json <<'END'
{"schemaVersion": 1, "baseTimeNanoseconds": 1743521598000000000, "traceEvents": [
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": "40.5", "dur": "10",
        "args": {"device": "0", "context": "n/a", "stream": "", "correlation": "1,024", "grid": ["8", "x", "2 x"], "registers per thread": "n/a"}},
    {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 0, "tid": 7, "ts": 60, "dur": 5,
        "args": {"device": "0", "context": "1", "stream": "7", "bytes": "n/a"}}]}
END
for kind in kernel copy; do metric-eval words.json --kind $kind -q --format csv | cut -d, -f 2-; done
