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
echo == members behind the events
about='"baseTimeNanoseconds": 1743521598000000000, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}], "distributedInfo": {"rank": 1, "world_size": 2}'
file "$(call cudaLaunchKernel 990 1)" "$(kernel gemm 1000 1)" | sed "s/{[^,]*, \(.*\)}\$/{\"first\": 1, \1, $about}/" >behind.json
file "$(call cudaLaunchKernel 990 1)" "$(kernel gemm 1000 1)" | sed "s/{[^,]*, /{$about, /" >before.json
metric-eval before.json -q -o before.csv --kind kernel; metric-eval behind.json -q --kind kernel --csv - | diff before.csv - && cat before.csv
for file in before behind; do metric-eval show $file.json | grep -E "^  (name|multi)|^rank" >$file.txt; done; diff before.txt behind.txt && cat before.txt
echo == several processes in a file
as() { sed "s/4711/$1/g"; }
file "$(call cudaLaunchKernel 990 1 | as 100)" "$(kernel a 1000 1)" "$(call cudaLaunchKernel 1500 2 | as 200)" "$(kernel b 1510 2)" "$(kernel c 1600 3)" >processes.json
rows processes.json kernel
rows processes.json runtime
file "$(kernel a 1000 1)" "$(call cudaLaunchKernel 990 1 | as 100)" "$(call cudaLaunchKernel 1500 1 | as 200)" "$(kernel b 1510 1)" | sed 's/{[^,]*, \(.*\)}$/{\1, "distributedInfo": {"rank": 1, "world_size": 2}}/' >same.json
rows same.json kernel
metric-eval show same.json | grep -E "^process|^rank"
for command in "same.json processes.json" "merge same.json processes.json -o both.cwd" "diff same.json processes.json" "join same.json processes.json"; do
    metric-eval $command 2>&1 >/dev/null | grep cannot
done
echo == files of ranks merged, whose processes are texts
of() { sed "s/\"pid\": 4711/\"pid\": $1/; s/\"pid\": 0/\"pid\": $2/"; } # PROCESS GPU
merged() { # PID GPU PID GPU: the same correlations for both
    file "$(call cudaLaunchKernel 990 1 | of "$1" "$2")" "$(kernel a 1000 1 | of "$1" "$2")" "$(call cudaLaunchKernel 1500 1 | of "$3" "$4")" "$(kernel b 1510 1 | of "$3" "$4")" "$(kernel late 1900 9 | of "$3" "$4")" >merged.json
    metric-eval merged.json --kind kernel --csv - | sed 's/.*nan,//' | cut -d, -f7-
    metric-eval show merged.json | grep ^process
}
merged '"[TP00-DP00] 83"' '"[TP00-DP00] 0"' '"[TP01-DP00] 84"' '"[TP01-DP00] 0"'
merged '"[TP00-DP00] 83"' '"[TP00-DP00] 0"' '"[TP01-DP00] 83"' '"[TP01-DP00] 1"'
merged '"[TP00] 2"' '"[TP00] 0"' 2 0
merged '"rank 0"' '"rank 0"' '"rank 1"' '"rank 1"'
merged '"a"' '"GPU 0"' '"a"' '"GPU 1"'
echo == processes of odd numbers
merged -1 0 -2 0
merged -2 0 7 0
merged 99999999999 0 1.5 0
merged null 0 7 0
merged '"4711"' 0 '"04711"' 0
echo == bytes behind the end
file "$(kernel a 1000 1)" >end.json
{ cat end.json; printf ' \r\n\t'; } >blanks.json; rows blanks.json kernel
cat end.json end.json | metric-eval - -q
{ cat end.json; echo garbage; } >garbage.json; metric-eval garbage.json -q
echo == a list that lacks its end is read, one with a quote that lacks its end is not
file "$(kernel a 1000 1)" "$(kernel b 2000 2)" "$(kernel c 3000 3)" >three.json
for size in 560 500 480 471 440 395 370 364; do
    head -c $size three.json >part.json
    echo "$(tail -c 12 part.json): $(rows part.json kernel | wc -l)"
done
sed 's/3000.*/-Inf/' three.json >part.json; echo "-Inf: $(rows part.json kernel | wc -l)"
sed 's/"b"/"b/' three.json >quote.json; metric-eval quote.json -q
sed 's/"b", /"b,\n/' three.json >line.json; metric-eval line.json -q
sed 's/^{.*: \[/[/; s/}$//' end.json >list.json; rows list.json kernel
cat list.json list.json >lists.json; metric-eval lists.json -q
echo == JSON as some programs write it
odd() { # EVENT'S MEMBER, NAME: an event beside others that are as they should be
    file "$(kernel first 1000 1)" "$1, \"cat\": \"kernel\", \"name\": \"$2\", \"ts\": 2000, \"dur\": 50, \"args\": {\"device\": 0, \"stream\": 7}" "$(kernel last 3000 3)" >odd.json
    metric-eval odd.json -q --kind kernel --csv - | grep -Ev 'start_ns|,first,|,last,'
}
for value in inf -inf Infinity -Infinity nan NaN -nan 18446744073709551615 -99999999999999999999 1e999 "1$(printf %0400d 0)" '{"a": [nan, true]}'; do odd "\"unused\": $value" number; done
odd '"id": 1' 'nul \u0000'; odd '"id": 1' 'lone \ud800'; odd '"id": 1' '\udc00\ud800'; odd '"id": 1' 'pair \ud83d\ude00'; odd '"id": 1' 'torch\cuda\x.py\u12'
odd '"id": 1' "$(printf 'byte \377\303')"; odd '"id": 1' "$(printf 'raw \001\t')"; odd '"note": inf' "$(printf 'inf, nan \377')"
file "$(kernel a inf 1)" "$(kernel b 1.5 2)" >times.json; rows times.json kernel
echo == a time of more than 146 years, such as a negative one that wrapped
for time in '1000 18446744073709550616' '1000 5e15' '-18446744073709550616 5' '18446744073709550616 5'; do
    file "$(kernel a 1000 1)" "$(kernel b "${time% *}" 2 | sed "s/50,/${time#* },/")" >far.json; rows far.json kernel | grep b,; metric-eval far.json | grep -E '^Lost|Time on'
done
for value in info '+' 1.2.3 tru; do odd "\"unused\": $value" number; done
echo == categories of 2021
sed 's/"cat": "kernel"/"cat": "Kernel"/; s/"cuda_runtime"/"Runtime"/; s/"gpu_memcpy"/"Memcpy"/; s/"gpu_memset"/"Memset"/; s/"cpu_op"/"Operator"/' "$SOURCE/tests/foreign/kineto.json" >old.json
cp "$SOURCE/tests/foreign/kineto.json" new.json
for kind in kernel copy memset runtime nvtx_range; do rows old.json $kind | diff <(rows new.json $kind) - && rows old.json $kind | wc -l; done
echo == kinds of memory of several words, and as of 2021
copies=() correlation=0
for copy in "DtoH (Device Static -> Pageable)" "HtoD (Pageable -> Device Static)" "DtoD (Managed Static -> Device)" "HtoD (Pagable -> Device)" "HtoD (Pinned -> Array)"; do
    copies+=("\"cat\": \"gpu_memcpy\", \"name\": \"Memcpy $copy\", \"ts\": $((2000 + correlation)), \"dur\": 1, \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": $correlation, \"bytes\": 4}")
    correlation=$((correlation + 1))
done
for memory in Device "Device Static"; do
    copies+=("\"cat\": \"gpu_memset\", \"name\": \"Memset ($memory)\", \"ts\": 3000, \"dur\": 1, \"args\": {\"device\": 0, \"stream\": 7, \"bytes\": 4}")
done
file "${copies[@]}" >memory.json
rows memory.json copy | cut -d, -f5-
rows memory.json memset | cut -d, -f3-
echo == copies and kernels of 0 ns have no bandwidth and no share
copy() { printf '"cat": "gpu_memcpy", "name": "Memcpy %s (Pinned -> Device)", "ts": 1000, "dur": %s, "args": {"device": 0, "stream": 7, "bytes": 4096}' "$1" "$2"; }
file "$(copy HtoD 0)" "$(copy HtoA 2)" >brief.json
metric-eval brief.json -q --by copy
file "$(copy HtoD 0)" >none.json
metric-eval none.json -q --by copy
metric-eval none.json -q --by copy --csv - | cut -d, -f1-6
metric-eval none.json -q --by copy --json - | grep -o "\"share\": [^,]*"
echo == a copy without a context, in a stream whose number others share
python3 - >contexts.json <<'E2'
import json
def event(category, name, start, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": 0, "tid": 7, "ts": start, "dur": 5, "args": {"device": 0, "stream": 7, **args}}
print(json.dumps({"traceEvents": [event("kernel", "k", 100, context=1, correlation=1), event("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 200, bytes=8, correlation=2)]}))
E2
metric-eval contexts.json --by stream -q; metric-eval export contexts.json --format chrome -q | grep -oE 'stream 7[^"]*'; metric-eval contexts.json -q -o contexts.html; grep -c 18446744073709551615 contexts.html || :
echo == the call of the driver in a launch that is left out
python3 - >calls.json <<'E2'
import json
def event(category, name, start, duration, correlation, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": duration, "args": {"correlation": correlation, **args}}
place = {"device": 0, "context": 1, "stream": 7}
print(json.dumps({"traceEvents": [event("cuda_runtime", "cudaLaunchKernel", 100, 10, 1), event("cuda_driver", "cuLaunchKernel", 102, 4, 1), event("kernel", "k", 200, 10, 1, **place),
                                  event("cuda_runtime", "cudaLaunchKernel", 300, 6, 2), event("kernel", "j", 400, 10, 2, **place)]}))
E2
metric-eval calls.json --by call -q; metric-eval calls.json --by call -q --exclude k
