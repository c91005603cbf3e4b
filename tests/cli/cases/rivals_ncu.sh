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
echo == units
unit() { # METRIC UNIT VALUE..
    local metric=$1; shift
    while [ $# -gt 0 ]; do
        { long; value 0 99 "$metric" "$1" "$2"; } >unit.csv
        echo "$2 $1 = $(columns unit.csv "$metric")"; shift 2
    done
}
unit dram__bytes_read.sum byte 4 Kbyte 4 kbyte 4 Gbyte 4 Tbyte 4 B 4 KB 4 kB 4 MB 4 GB 4 TB 4 PB 4 KiB 4 MiB 4 GiB 4 block 4 TPC 4 kernel 4
unit dram__bytes_read.sum.per_second byte/second 1.5 Gbyte/second 1.5 GB/s 1.5 TB/s 1.5 GiB/s 1.5 byte/nsecond 1.5 Kbyte/usecond 1.5
unit sm__cycles_elapsed.avg.per_second hz 1.5 Ghz 1.5 GHz 1.5 MHz 1.5 Hz 1.5 cycle/nsecond 1.5 cycle/usecond 1.5
unit smsp__inst_executed.sum inst 1 Kinst 1 kinst 1 Minst 1 Ginst 1
unit gpu__time_duration.sum ns 1 nsecond 1 us 1 msecond 1 s 1 minute 1 hour 1 "" 1
for unit in µs cycle ns/s; do
    { long; value 0 99 gpu__time_duration.sum $unit 5; } >time.csv; metric-eval time.csv -q
    { wide $unit; launch 0 99; echo ',"1","2"'; } | sed s/dram__bytes_read.sum/gpu__time_duration.sum/ >time.csv; metric-eval time.csv -q
done
echo == a metric of its own needs no counters
metric-eval explain "$SOURCE/tests/foreign/ncu_metrics.csv" dram__bytes_read.sum --range 0
echo == the details page has words in place of names
details() { value 0 99 Duration us 12.4; value 0 99 "SM Frequency" Ghz 1.4; }
{ long; details; value 0 99 "" "" ""; } >details.csv; metric-eval details.csv -q --all; echo "status $?"
{ long; details; value 0 99 dram__bytes_read.sum byte 1; } >both.csv; metric-eval both.csv --by range --csv both.out && columns both.csv dram__bytes_read.sum
echo == GPUs of several chips
on() { value "$1" 99 dram__bytes_read.sum byte 1 | sed "s/\"0\",\"9.0\"/\"$2\",\"$3\"/"; } # ID DEVICE CC
{ long; on 0 0 9.0; on 1 1 8.0; } >chips.csv; metric-eval chips.csv -q; echo "status $?"
{ long; on 0 0 9.0; on 1 0 8.0; } >hosts.csv; metric-eval hosts.csv -q; echo "status $?"
{ long; on 0 0 9.0; on 1 0 "9.0 "; on 2 1 "9.0 "; } >blank.csv; metric-eval blank.csv -q --by device --csv - -m dram__bytes_read.sum | cut -d, -f1-5
gpus() { # PRODUCT..: a launch on a GPU of each, all of one compute capability
    printf '%s,"device__attribute_display_name","dram__bytes_read.sum"\n"","","","","","","","","","","","","byte"\n' "$heads"
    local device=0
    for product; do launch $device 99 | sed "s/\"0\",\"9.0\"/\"$device\",\"7.5\"/"; echo ",\"$product\",\"1\""; device=$((device + 1)); done
}
gpus "NVIDIA RTX 8000" "Tesla T4" >same.csv; metric-eval show same.csv | grep -E "^chip|^  (name|chip)"
gpus "NVIDIA RTX 8000" "GeForce GTX 1650" >split.csv; metric-eval split.csv -q; echo "status $?"
