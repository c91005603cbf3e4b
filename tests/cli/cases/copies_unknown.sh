# Copies whose bytes, stream or context nobody knows: CUPTI and those that follow it write all ones.
copy() # START BYTES STREAM
{
    printf '{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy %s", "pid": 0, "tid": 7, "ts": %s, "dur": 5,
        "args": {"device": 0, "context": %s, "stream": %s, "bytes": %s}},' "$4" "$1" "$3" "$3" "$2"
}
{
    echo '{"schemaVersion": 1, "baseTimeNanoseconds": 1743521598000000000, "traceEvents": ['
    copy 10 -1 7 'HtoD (Pageable -> Device)'
    copy 20 4096 4294967295 'HtoD (Pageable -> Device)'
    copy 30 4096 8 'DtoH (Device -> Pageable)'
    echo '{}]}'
} >kineto.json
metric-eval kineto.json --by copy -q
metric-eval kineto.json --by stream -q
metric-eval kineto.json --by copy -q --format csv | cut -d, -f 1,5,12
metric-eval kineto.json --by copy -q --format json | grep -o '"bytes": [^,]*'
metric-eval kineto.json --kind copy -q --format csv | cut -d, -f 3-6
