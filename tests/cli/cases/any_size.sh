# Captures that are larger than the memory there is: 163 MB and 144 MB in 120 MB, of which the program and its libraries
# take half. Sanitizers need more for themselves: the case is skipped with them.
captures=$SOURCE/data/captures
limit=120000
{ (ulimit -v $limit; metric-eval --version >/dev/null); } 2>/dev/null || { echo "skipped: no program of so little memory"; exit 77; }
repeat_ranges "$captures/gemm.cwd" 30000 60 ranges.cwd
repeat_ranges "$captures/gemm.cwd" 300 60 some.cwd
repeat_samples "$captures/pm_stream.cwd" 2000000 samples.cwd
small() { (ulimit -v $limit; metric-eval "$@" 2>&1); }
for capture in ranges samples; do
    few=$([ $capture = ranges ] && echo -m sm__inst_executed.sum) # else their text is a gigabyte
    echo "== $capture"
    small show $capture.cwd | grep -E '^(ranges|samples|end)'
    small $capture.cwd | head -n 4
    small $capture.cwd -q -o $capture.h5
    small $capture.cwd -q | tail -n 1
    small $capture.cwd $few --json - | tail -c 50
    for shape in "" --tidy; do small export $capture.cwd $few --format csv $shape | tail -n 1; done
done
echo == the same values
small ranges.cwd --tidy --csv - | head -n 20000 | cmp - <(metric-eval some.cwd --tidy --csv - | head -n 20000)
small ranges.cwd --csv - | head -n 200 | cmp - <(metric-eval some.cwd --csv - | head -n 200)
h5dump -d /range/value -s 29999,0 -c 1,3 ranges.h5 | grep '(29999'
h5dump -d /range/value -s 199,0 -c 1,3 -k 1,1 ranges.h5 | grep '(199'
metric-eval some.cwd -o some.h5 >/dev/null; h5dump -d /range/value -s 199,0 -c 1,3 some.h5 | grep '(199'
small ranges.cwd --range 29998-29999 -m sm__inst_executed.sum --tidy --csv - | cut -c 1-40
small ranges.cwd --by range --sort total --top 2 -m gpu__time_duration.sum --tidy --csv - | columns range,name,value,status
echo == commands that take all ranges
rules=$PWD/gate.yaml
for i in 1 2 3; do cp some.cwd run$i.cwd; done
metric-eval gate --learn run?.cwd -m sm__inst_executed.sum -o $rules >/dev/null
small advise ranges.cwd --top 1 | head -n 6
small advise ranges.cwd --by range --format json | head -c 60; echo
small diff ranges.cwd ranges.cwd
small diff ranges.cwd some.cwd --format json | tail -c 100; echo
small gate ranges.cwd ranges.cwd --rules $rules
small explain ranges.cwd sm__inst_executed.sum --range 29999 | head -n 2
small ranges.cwd -q --report ranges.html && grep -o '"unwanted":0' ranges.html
make_ranks "$captures/gemm.cwd" 2 . && for rank in 0 1; do repeat_ranges run.$rank.cwd 24000 3 big.$rank.cwd; done
small ranks big.0.cwd big.1.cwd -m sm__inst_executed.sum | head -n 8
echo == as many kernels as launches
repeat_ranges "$captures/gemm.cwd" 20000 20000 many.cwd
small many.cwd | sed '/^$/d' | cut -c 1-75 | head -n 5
small many.cwd -q --report many.html && grep -o '"unwanted":0' many.html
rm many.*
echo == a pipe, and two files as one
mkdir spool; export TMPDIR=$PWD/spool
cat ranges.cwd | small - -q -m sm__inst_executed.sum --csv - | md5sum | cmp - <(small ranges.cwd -q -m sm__inst_executed.sum --csv - | md5sum)
cat ranges.cwd | small /dev/stdin | sed -n 2p
small big.0.cwd big.1.cwd | sed -n 2p
(ulimit -v 240000; metric-eval merge big.0.cwd big.1.cwd -o big.cwd); small show big.cwd | grep ranges: # it packs pieces of 64 MB
ls spool
cat ranges.cwd | TMPDIR=/nowhere small -
echo == a part of the file that is not there any more
head -c 100000000 ranges.cwd >cut.cwd; small cut.cwd --csv - | head -n 1
