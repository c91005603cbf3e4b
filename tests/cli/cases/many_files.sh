# A set of files is an input like one file: several words, a folder, a list.
make_ranks "$SOURCE/data/captures/gpus.cwd" 12 . 3 && mkdir job && mv run.*.cwd job
touch job/.run.77.cwd job/notes.txt; mkdir job/deeper.cwd
ranks_of() { metric-eval "$@" --json - | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["capture"]["source"], [r["attributes"]["rank"] for r in d["ranges"]][::3])'; }
echo == a folder, as people count
ranks_of job; ranks_of job/
echo == words, and lists with files and folders
ranks_of job/run.3.cwd job/run.1.cwd; ranks_of job/run.3.cwd
printf 'job/run.10.cwd\n\njob/run.2.cwd' >some; ranks_of @some; echo job >some; ranks_of @some; ls job/run.1?.cwd | ranks_of @-
echo job/run.5.cwd | ranks_of @- job/run.6.cwd; cp job/run.7.cwd @x; ranks_of ./@x
echo == other commands
metric-eval merge job -o all.cwd; metric-eval merge job/run.?.cwd job/run.??.cwd -o same.cwd; cmp all.cwd same.cwd && echo the same
metric-eval show job | grep -E '^(capture|ranges|end)'; metric-eval explain job gpu__time_duration.sum --range '#0' | head -1
metric-eval diff job all.cwd | head -1
metric-eval export job --format csv --tidy | wc -l
echo == what is no set
mkdir none; metric-eval none; echo "status $?"; metric-eval @none/x; echo "status $?"; : >none/x; metric-eval @none/x; echo "status $?"
printf 'a\0b' >none/x; metric-eval @none/x; echo "status $?"; metric-eval merge job/run.0.cwd none/y -o none/z; echo "status $?"; ls none
echo "$SOURCE/data/captures/gemm.cwd" | metric-eval merge job @- -o none/z 2>&1 | grep -o 'found a capture of another plan than job/run.0.cwd'
metric-eval job --json job/run.4.cwd; echo "status $?"
echo == more files than may be open
mkdir many; make_ranks "$SOURCE/data/captures/gpus.cwd" 2000 many
(ulimit -n 16; metric-eval merge many -o many.cwd); metric-eval show many.cwd | grep -E '^(ranges|end)'
echo == what has no end
metric-eval /dev/zero; echo "status $?"; ln -s /dev/zero job/zero.cwd; mkfifo job/pipe.cwd; metric-eval show job | grep ^ranges; yes | metric-eval show -; echo "status $?"
printf 'job/run.0.cwd\njob/pipe.cwd\n' >list; timeout 10 metric-eval show @list; echo "status $?"; echo /dev/zero >list; timeout 10 metric-eval merge @list -o all.cwd; echo "status $?"
echo - >list; metric-eval show @list <job/run.0.cwd | grep ^ranges
