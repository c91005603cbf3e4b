# Traces of the processes of a job are one trace: each row, kind and device in its place, nothing lost.
capture-agent trace -q --backend sim --kinds all -o whole.cwd -- true
capture-agent trace -q --backend sim --kinds all -o 'rank-%r.cwd' -- true; ls rank-*
metric-eval merge rank-*.cwd -o joined.cwd
same() { cmp "$1.whole" "$1.joined" && echo "$1: alike"; }
for of in whole joined; do
    metric-eval $of.cwd | sed "s/$of//g" >seen.$of
    metric-eval show $of.cwd | sed "s/$of//g" >kinds.$of
    metric-eval $of.cwd --csv rows.$of --kind kernel -q >/dev/null
done
same seen; same kinds; sed -n '/^process/p; /^  kernel/p' kinds.joined | cut -c1-40
sort rows.joined >sorted.joined; sort rows.whole >sorted.whole; same sorted
echo == without a file between
metric-eval rank-*.cwd | tail -n +2 | head -n -1 >seen.words; tail -n +2 seen.joined | head -n -1 | cmp - seen.words && echo alike
metric-eval export rank-*.cwd --perfetto ranks.pftrace; metric-eval export joined.cwd --perfetto joined.pftrace
cmp ranks.pftrace joined.pftrace && echo one file for Perfetto
metric-eval export rank-0.cwd joined.cwd --perfetto joined.cwd --force; echo "status $?"
echo == other kinds of rows, an old trace again, and its own bytes
make_trace other.cwd launches=50 processes=2
metric-eval merge rank-0.cwd other.cwd rank-0.cwd -o three.cwd
metric-eval three.cwd --by process --quiet
metric-eval merge whole.cwd -o one.cwd; cmp whole.cwd one.cwd && echo the same bytes
echo == ranks whose processes have one number and the same times
for rank in 0 1 2; do
    PMI_RANK=$rank PMI_SIZE=3 capture-agent trace -q --backend sim --sim-processes 1 -o of.$rank.cwd -- true
done
metric-eval of.*.cwd of.1.cwd --by rank --quiet
echo == cut off, damaged, and of another kind
head -c -200 rank-0.cwd >cut.cwd; metric-eval merge cut.cwd rank-1.cwd -o half.cwd; metric-eval show half.cwd | grep ^end
metric-eval merge rank-0.cwd "$SOURCE/data/captures/gemm.cwd" -o no.cwd 2>&1 | sed "s|$SOURCE/||"; ls no.cwd 2>&1
