# Traces of Kineto as other versions and other programs write them, and damaged ones.
file() { # EVENT..: a trace of these events
    printf '{"baseTimeNanoseconds": 1743521598000000000, "traceEvents": ['
    local sep=
    for event; do printf '%s{"ph": "X", %s}' "$sep" "$event"; sep=,; done
    printf ']}\n'
}
call() { printf '"cat": "cuda_runtime", "name": "%s", "pid": 4711, "tid": 4711, "ts": %s, "dur": 5, "args": {"correlation": %s}' "$1" "$2" "$3"; }
kernel() { printf '"cat": "kernel", "name": "%s", "pid": 0, "tid": 7, "ts": %s, "dur": 50, "args": {"device": 0, "context": 1, "stream": 7, "correlation": %s}' "$1" "$2" "$3"; }
rows() { metric-eval "$1" -q --kind "$2" --csv -; }
echo == copies from GPU to GPU say in which of them they ran
file "$(call cudaMemcpyPeerAsync 1190 5)" '"cat": "gpu_memcpy", "name": "Memcpy PtoP (Device -> Device)", "pid": 1, "tid": 7, "ts": 1200, "dur": 40, "args": {"fromDevice": 0, "inDevice": 1, "toDevice": 2, "fromContext": 1, "inContext": 2, "toContext": 3, "stream": 7, "correlation": 5, "bytes": 1048576}' >peer.json
rows peer.json copy
