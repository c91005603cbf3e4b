# CSV of ncu, of several processes and in other forms.
heads='"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC"'
launch() { printf '"%s","%s","app","n1","gemm(int)","1","7","(256, 1, 1)","(64, 1, 1)","0","9.0"' "$1" "$2"; } # ID PROCESS
value() { printf '%s,"x","%s","%s","%s"\n' "$(launch "$1" "$2")" "$3" "$4" "$5"; }                              # ID PROCESS METRIC UNIT VALUE
long() { printf '%s,"Section Name","Metric Name","Metric Unit","Metric Value"\n' "$heads"; }
process() { # PID FACTOR: two launches, a line for each value
    for id in 0 1; do
        value $id "$1" dram__bytes_read.sum byte $((id * 100 + 10 * $2))
        value $id "$1" gpu__time_duration.sum nsecond $((id * 1000 + 100 * $2))
    done
}
wide() { printf '%s,"dram__bytes_read.sum","gpu__time_duration.sum"\n' "$heads"; printf '"","","","","","","","","","","","%s","nsecond"\n' "$1"; }
columns() { metric-eval "$1" -q --by range --csv - | python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin): print(*(row[c] for c in sys.argv[1:]))' "${@:2}"; }
values() { columns "$1" process kernel dram__bytes_read.sum gpu__time_duration.sum; }
echo == values of several processes
{ long; process 99 1; process 100 2; } >processes.csv; values processes.csv
{ long; value 0 99 dram__bytes_read.sum byte 1; value 0 99 gpu__time_duration.sum ns 1; value 0 100 dram__bytes_read.sum byte 2; value 0 100 gpu__time_duration.sum ns 2; } >first.csv; values first.csv
echo == files one behind another
{ long; process 99 1; long; process 99 2; } >long.csv; values long.csv
{ long; value 0 99 dram__bytes_read.sum byte 1; echo "==PROF== Connected to process 99"; long; value 0 99 dram__bytes_read.sum byte 2; } >same.csv; columns same.csv process dram__bytes_read.sum
{ wide byte; launch 0 99; echo ',"1","2"'; wide Kbyte; launch 0 99; echo ',"1","4"'; } >wide.csv; values wide.csv
{ long; process 99 1; wide byte; launch 0 99; echo ',"1","2"'; } >other.csv; metric-eval other.csv -q
