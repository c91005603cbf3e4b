# Private texts that a redacted copy lacks; docs/privacy.md lists them. check_redact searches all captures.
captures=$SOURCE/data/captures
redact() { metric-eval merge --redact --force -q "$captures/$1.cwd" -o r.cwd; }
left() { grep -a -o -F -e "$1" r.cwd | sort | uniq -c; }
echo == an expression that opened windows
redact trace_window && left '^copies'
metric-eval show --provenance r.cwd | grep window
echo == memory that a program gives to NVTX
redact trace_nccl && left 'Peer rank'
metric-eval r.cwd --kind nvtx_range --csv - -q | cut -d, -f 5- | sort | uniq -c | head -3
echo == attributes that say nothing of the program
redact trace_serial && metric-eval show r.cwd | grep -o 'kernels one after another'
echo == ranges whose names are paths, and a range in one of them
cat >program <<'END'
#!/bin/sh
exec >"$COUNTERWORKS_SIM"
for word in 'push step' 'push /home/zanna/x' 'push read' 'launch gemm' pop pop pop \
    'push /data/b' 'push read' 'launch gemm' pop pop; do
    echo "$word"
done
END
chmod +x program
metric-config --chip GH100 -m sm__inst_executed.sum --no-native -q -o plan.cwc
for range in read '/x|/b'; do
    capture-agent range --backend sim --ranges user --range "$range" -c plan.cwc -q -o "${#range}.cwd" --sim-processes 1 -- ./program
done
metric-eval merge -q 4.cwd 5.cwd -o ranges.cwd
metric-eval merge --redact --force -q ranges.cwd -o r.cwd; left zanna
for file in ranges r; do metric-eval $file.cwd -q --csv $file.csv; metric-eval $file.cwd --by device -q >$file.txt; done
cut -d, -f 2,6 r.csv
diff <(cut -d, -f 7- ranges.csv) <(cut -d, -f 7- r.csv) && diff ranges.txt r.txt && echo the same values
echo == code
redact pc_gemm && metric-eval export --cubin=code r.cwd
