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
