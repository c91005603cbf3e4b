# Some ranks of many, with an index and without: the same, but other files are opened.
mkdir job; make_ranks "$SOURCE/data/captures/gpus.cwd" 30 job 4
ask() { metric-eval job/ "$@" --by rank -q -m gpu__time_duration.sum --csv - | cut -d, -f1,4,5; }
opened() { strace -f -e trace=openat -o trace "$@" >/dev/null 2>&1; grep -c 'job/run\.[0-9]*\.cwd' trace; }
echo == without
ask --rank 7,20-21 >without; cat without; ask --rank 99; echo "status $?"; ask --rank 7 --kernel nothing 2>&1 | head -n 1
metric-eval job --rank 7-; metric-eval job --rank x; metric-eval job --rank 9-7
echo == with
metric-eval index job; head -n 1 job/run.cwi; wc -l <job/run.cwi
ask --rank 7,20-21 | cmp - without && echo the same; ask --rank 99; echo "status $?"
metric-eval explain job gpu__time_duration.sum --rank 7 --range '#0' 2>&1 | head -n 2
command -v strace >/dev/null && { opened metric-eval job --rank 7,20-21; } || echo 6 # three files, each twice
metric-eval merge job -o all.cwd && values() { metric-eval "$1" --rank 3 --tidy --csv - | columns name,kernel,metric,unit,value,status; }; diff <(values all.cwd) <(values job) && echo the same of one file
echo == an index that is not of the files is not used
cp job/run.7.cwd other; cp job/run.8.cwd job/run.7.cwd; ask --rank 7; echo "status $?"; ask --rank 20 | tail -n 1
cp other job/run.7.cwd; ask --rank 7,20-21 | cmp - without && echo the same
metric-eval index -q job; rm job/run.20.cwd; ask --rank 7,20-21
metric-eval index job; echo garbage >>job/run.cwi; ask --rank 7; printf '' >job/run.cwi; metric-eval index job; wc -l <job/run.cwi
echo == what goes wrong in the middle
before=$(cat job/*.cwd | sha256sum); cp job/run.cwi before.cwi
for fault in full:100:run.cwi gone:100:run.cwi kill:100:run.cwi gone:20000:.cwd kill:20000:.cwd; do
    { ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 LD_PRELOAD="$(dirname "$(command -v make_ranks)")/../tests/io_faults.so" IO_FAULTS=$fault metric-eval index job; } 2>/dev/null
    echo "status $?"; cmp job/run.cwi before.cwi && echo "the index is the old one"; rm -f job/run.cwi.??????
done
[ "$(cat job/*.cwd | sha256sum)" = "$before" ] && echo the inputs are there
ask --rank 7; metric-eval index job && ask --rank 7
echo == what is no folder
metric-eval index; metric-eval index other; metric-eval index nowhere; echo "status $?"
mkdir none; metric-eval index none; echo precious >job/run.cwi; metric-eval index job; cat job/run.cwi
cp "$SOURCE/data/captures/gemm.cwd" none; metric-eval index none; cat none/run.cwi
echo == a pipe is neither an index nor a file of the folder
rm job/run.cwi; mkfifo job/run.cwi job/pipe.cwd; ask --rank 7 | tail -n 1; metric-eval merge job -o all.cwd; rm job/run.cwi; metric-eval index -q job
stat=$(stat -c '%s %.9Y' job/pipe.cwd | tr -d .); printf 'counterworks index 1\n7 %s pipe.cwd\n' "$stat" >job/run.cwi; ask --rank 7 | tail -n 1; rm job/pipe.cwd
echo == more than a thousand files of two ranks each
metric-eval merge job/run.7.cwd job/run.8.cwd -o two.cwd; mkdir copies; for i in $(seq 1100); do cp two.cwd copies/$i.cwd; done
copies() { metric-eval copies --rank 7-8 -q --by range -m gpu__time_duration.sum --csv - | wc -l; }
copies; metric-eval index copies; copies
