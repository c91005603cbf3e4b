# A trace whose lists take more memory than there may be: 4.9 million rows, of which all at once take 330 MB, and 1.3 GB to
# be compared. Sanitizers need more for themselves: the case is skipped with them.
{ (ulimit -v 130000; metric-eval --version >/dev/null); } 2>/dev/null || { echo "skipped: no program of so little memory"; exit 77; }
make_trace trace.cwd launches=2300000
export TMPDIR=$PWD
small() { # MB ARGUMENT...
    python3 - "$@" <<'E2'
import resource, subprocess, sys
code = subprocess.call(["metric-eval"] + sys.argv[2:], stdout=open("out", "w"))
mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
print("status", code, f"in at most {sys.argv[1]} MB" if mb <= int(sys.argv[1]) else f"in {mb} MB")
E2
}
echo == a list
small 320 trace.cwd --by kernel -q --top 3; cat out
echo == a table
small 320 trace.cwd -q --kind kernel --csv - && wc -l <out && tail -n 1 out | cut -d, -f 1-5
echo == lanes
small 320 export trace.cwd --perfetto /dev/null
echo == two traces
small 450 diff trace.cwd trace.cwd; tail -n 4 out
ls | tr '\n' ' '; echo
