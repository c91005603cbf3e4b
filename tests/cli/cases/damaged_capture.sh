# Damage in the middle of a capture costs the ranges that it is in, and is told in one line.
repeat_ranges "$SOURCE/data/captures/gemm.cwd" 40 4 whole.cwd
metric-eval whole.cwd -m sm__inst_executed.sum --csv - >whole.csv
size=$(stat -c %s whole.cwd)
rest() { # of the ranges that are left, those that are not in the whole capture: they have numbers of their own
    cut -d, -f 2- whole.csv >all; cut -d, -f 2- part.csv | grep -vxFf all; echo "$(($(wc -l <part.csv) - 1)) ranges"
}
evaluate() { metric-eval damaged.cwd -m sm__inst_executed.sum --csv part.csv 2>&1 >/dev/null | sed "s/offset [0-9]*/offset N/; s/[0-9]* bytes/N bytes/"; rest; }
echo == a byte
cp whole.cwd damaged.cwd
printf '\x55' | dd of=damaged.cwd bs=1 seek=$((size / 2)) conv=notrunc status=none
evaluate
metric-eval show damaged.cwd 2>/dev/null | grep -E '^(ranges|end)'
echo == bytes that are not there
{ head -c $((size / 3)) whole.cwd; tail -c $((size / 2)) whole.cwd; } >damaged.cwd
evaluate | sed 's/found 1 damaged place, .*/found 1 damaged place/' | head -n 1
echo == more of them
{ head -c $((size / 3)) whole.cwd; head -c 20000 /dev/urandom; tail -c $((size - size / 3)) whole.cwd; } >damaged.cwd
evaluate
echo == the end
cp whole.cwd damaged.cwd
printf '\x55' | dd of=damaged.cwd bs=1 seek=$((size - 5)) conv=notrunc status=none
evaluate
echo == a pipe, a merge
printf '\x55' | dd of=damaged.cwd bs=1 seek=$((size / 2)) conv=notrunc status=none
metric-eval - -m sm__inst_executed.sum --csv part.csv <damaged.cwd >/dev/null 2>&1; rest
metric-eval merge -o merged.cwd damaged.cwd whole.cwd; metric-eval merged.cwd -q -m sm__inst_executed.sum --csv part.csv >/dev/null; rest
echo == every command says it once
printf '\x55' | dd of=damaged.cwd bs=1 seek=$((size / 2)) conv=notrunc status=none
trace_of_ranges whole.cwd 1 0.9 trace.cwd
says() { echo "$1 $(metric-eval "$@" 2>&1 >/dev/null | grep -c 'damaged place')"; }
for format in csv ndjson folded speedscope prometheus; do says export damaged.cwd --format $format; done
for command in show advise ranks; do says $command damaged.cwd; done
says explain damaged.cwd sm__inst_executed.sum
says diff damaged.cwd damaged.cwd; says join trace.cwd damaged.cwd
says damaged.cwd; says damaged.cwd --report page.html
head -c 24000 whole.cwd >damaged.cwd
metric-eval join trace.cwd damaged.cwd 2>&1 >/dev/null
