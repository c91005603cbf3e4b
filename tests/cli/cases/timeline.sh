# A trace for people and for other programs: what ran, why GPUs were idle, and its rows.
fail() { "$@"; echo "status $?"; }
make() { "$BIN/make_trace" "$@"; }
terminal() { script -qec "stty cols $1; ${*:2}" /dev/null </dev/null | tr -d '\r'; }
widest() { sed 's/\x1b\[[0-9]*m//g' | python3 -c 'import sys; print(max(len(line.rstrip("\n")) for line in sys.stdin))'; }
make run.cwd launches=2000
make ranks.cwd launches=3000 processes=3 graphs=2 dropped=3 untimed=2
make cut.cwd launches=300 cut=1 calls=0 nvtx=0
echo == all of it
metric-eval run.cwd
echo == ranks, and what was lost
metric-eval ranks.cwd --top 3 | head -40
metric-eval cut.cwd | head -12
capture-agent trace -q --backend sim --delay 1h -o empty.cwd -- true
metric-eval empty.cwd
make graphs.cwd launches=600 graphs=3; metric-eval graphs.cwd --by kernel --top 1
echo == launches that nothing joins with ranges
make uncalled.cwd launches=300 calls=0; metric-eval uncalled.cwd --by nvtx --top 1 2>&1 >/dev/null
echo == in a terminal
for columns in 80 100 160; do echo $(terminal $columns metric-eval ranks.cwd | widest) of $columns columns; done
echo == other lists
for by in family nvtx nvtx-each stream device process rank copy call graph; do metric-eval ranks.cwd --by $by --top 2 --quiet; done
metric-eval run.cwd --sort mean --filter 'launches > 10' --top 2 --quiet
metric-eval run.cwd --sort name:asc --top 2 --quiet
metric-eval run.cwd --kernel softmax --quiet
metric-eval run.cwd --range forward --exclude gemm --top 2 --quiet
metric-eval run.cwd --by nvtx --sort wall --top 2 --quiet
metric-eval run.cwd --by nvtx --csv - --top 2
cat >ranges <<'END'
exec >$COUNTERWORKS_SIM
echo push outer; echo push inner; echo launch a; echo pop; echo push inner; echo pop; echo push idle; echo pop; echo pop
END
capture-agent trace -q --backend sim --kinds=-env -o own.cwd -- sh ranges; metric-eval own.cwd --by nvtx --quiet
metric-eval graphs.cwd --by graph --csv -
echo == a training, whose backward pass is launched by a thread of its own
metric-eval "$SOURCE/data/captures/trace_train.cwd" --by nvtx --quiet
metric-eval "$SOURCE/data/captures/trace_train.cwd" --by nvtx --csv - --top 2
metric-eval "$SOURCE/data/captures/trace_train.cwd" --by graph --quiet
metric-eval "$SOURCE/data/captures/trace_train.cwd" --range 'step 3/backward' --top 1 --quiet
terminal 100 metric-eval "$SOURCE/data/captures/trace_train.cwd" | widest
echo == its steps alone
terminal 100 metric-eval "$SOURCE/data/captures/trace_train.cwd" --range "'step [1-5]'" | sed 's/\x1b\[[0-9]*m//g'
capture-agent trace --backend sim -q -o training.cwd -- true # names have the room, and not when they were slowest
terminal 100 metric-eval training.cwd --by nvtx | sed -n '/^  ranges/,/^$/p'
metric-eval "$SOURCE/data/captures/trace_train.cwd" --range update --by call --quiet
echo == what it holds, for programs
metric-eval show ranks.cwd --format json | python3 -c '
import json, sys
trace = json.load(sys.stdin)["trace"]
print(*trace, len(trace["processes"]), trace["processes"][0])
print(*((k["kind"], k["rows"], len(k["fields"])) for k in trace["kinds"]))
print(*(b for b in trace["record_counts"] if b["kind"] == "kernel"), sep="\n")'
echo == mistakes
fail metric-eval run.cwd --range nowhere 2>&1
fail metric-eval run.cwd --kernel softmix 2>&1
fail metric-eval run.cwd --by fold 2>&1
fail metric-eval run.cwd --filter 'warps > 1' 2>&1
fail metric-eval run.cwd --sort warps 2>&1
fail metric-eval run.cwd --all 2>&1
fail metric-eval run.cwd --csv - 2>&1
fail metric-eval run.cwd --csv - --kind kernl 2>&1
fail metric-eval "$SOURCE/data/captures/gemm.cwd" --kind kernel 2>&1
for capture in gemm pm_gemm pc_gemm; do fail metric-eval "$SOURCE/data/captures/$capture.cwd" --by copy 2>&1; done
for command in "explain run.cwd" "advise run.cwd" "ranks run.cwd"; do fail metric-eval $command 2>&1; done
echo == a list that is cut says so
make_trace many.cwd launches=100 processes=10
metric-eval many.cwd | sed -n '/^Memory/,/^$/p' | tail -3
echo == for programs
metric-eval run.cwd --csv - --kind kernel | head -3
metric-eval run.cwd --csv - --kind copy | head -3
metric-eval run.cwd --csv - --kind memory | head -3
metric-eval run.cwd --csv - --by kernel | head -3
metric-eval ranks.cwd --json - | python3 -c '
import json, sys
all = json.load(sys.stdin)
print(*(f"{kind} {len(rows)}" for kind, rows in all.items() if kind != "capture"), sep="\n")
print(all["kernel"][0])'
metric-eval ranks.cwd -o run.h5 >/dev/null
h5dump -n run.h5 | grep -E 'dataset|group' | sed 's/  */ /g' | grep -E 'timeline$|/(name|path|kernel|copy|environment)'
metric-eval ranks.cwd -o again.h5 >/dev/null && cmp run.h5 again.h5 && echo the same again
echo == sums are those of the rows
metric-eval run.cwd --csv - --kind kernel | python3 -c '
import csv, sys
rows = list(csv.DictReader(sys.stdin))
print(len(rows), sum(int(r["end_ns"]) - int(r["start_ns"]) for r in rows))'
metric-eval run.cwd --by kernel --csv - | python3 -c '
import csv, sys
rows = list(csv.DictReader(sys.stdin))
print(sum(int(r["launches"]) for r in rows), int(sum(float(r["total_ns"]) for r in rows)))'
