# A set of files is an input like one file: several words, a folder, a list.
make_ranks "$SOURCE/data/captures/gpus.cwd" 12 . 3 && mkdir ranks && mv run.*.cwd ranks
touch ranks/.run.77.cwd ranks/notes.txt; mkdir ranks/deeper.cwd
ranks_of() { metric-eval "$@" --json - | python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["capture"]["source"], [r["attributes"]["rank"] for r in d["ranges"]][::3])'; }
echo == a folder, as people count
ranks_of ranks; ranks_of ranks/
echo == words, and lists with files and folders
ranks_of ranks/run.3.cwd ranks/run.1.cwd; ranks_of ranks/run.3.cwd
printf 'ranks/run.10.cwd\n\nranks/run.2.cwd' >some; ranks_of @some; echo ranks >some; ranks_of @some; ls ranks/run.1?.cwd | ranks_of @-
echo ranks/run.5.cwd | ranks_of @- ranks/run.6.cwd; cp ranks/run.7.cwd @x; ranks_of ./@x
echo == other commands
metric-eval merge ranks -o all.cwd; metric-eval merge ranks/run.?.cwd ranks/run.??.cwd -o same.cwd; cmp all.cwd same.cwd && echo the same
metric-eval show ranks | grep -E '^(capture|ranges|end)'; metric-eval explain ranks gpu__time_duration.sum --range '#0' | head -1
metric-eval diff ranks all.cwd | head -1
metric-eval export ranks --format csv | wc -l
echo == what is no set
mkdir none; metric-eval none; echo "status $?"; metric-eval @none/x; echo "status $?"; : >none/x; metric-eval @none/x; echo "status $?"
printf 'a\0b' >none/x; metric-eval @none/x; echo "status $?"; metric-eval merge ranks/run.0.cwd none/y -o none/z; echo "status $?"; ls none
echo "$SOURCE/data/captures/gemm.cwd" | metric-eval merge ranks @- -o none/z 2>&1 | grep -o 'found a capture of another plan than ranks/run.0.cwd'
metric-eval ranks --json ranks/run.4.cwd; echo "status $?"
echo == more files than may be open
mkdir many; make_ranks "$SOURCE/data/captures/gpus.cwd" 2000 many
(ulimit -n 16; metric-eval merge many -o many.cwd); metric-eval show many.cwd | grep -E '^(ranges|end)'
