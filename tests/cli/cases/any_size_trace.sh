# A trace whose lists take more memory than there may be: 6.4 million rows, of which all at once take 430 MB, and 1.7 GB to
# be compared. Sanitizers need more for themselves: the case is skipped with them.
{ (ulimit -v 130000; metric-eval --version >/dev/null); } 2>/dev/null || { echo "skipped: no program of so little memory"; exit 77; }
make_trace trace.cwd launches=3000000
export TMPDIR=$PWD
small() {
    python3 - "$@" <<'E2'
import resource, subprocess, sys
code = subprocess.call(["metric-eval"] + sys.argv[1:], stdout=open("out", "w"))
mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
print("status", code, "in at most 450 MB" if mb <= 450 else f"in {mb} MB")
E2
}
echo == a list
small trace.cwd --by kernel -q --top 3; cat out
echo == a table
small trace.cwd -q --kind kernel --csv - && wc -l <out && tail -n 1 out | cut -d, -f 1-5
echo == lanes
small export trace.cwd --perfetto /dev/null
echo == two traces
small diff trace.cwd trace.cwd; tail -n 4 out
ls | tr '\n' ' '; echo
