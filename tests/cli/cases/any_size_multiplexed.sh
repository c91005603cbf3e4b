# Multiplexed launches are put together from all over a capture, of which no more than sums of each kernel are in memory:
# 40,000 ranges, which are 170 MB as columns, in 120 MB of address space. Sanitizers need more for themselves: the case is
# skipped with them.
limit=120000
{ (ulimit -v $limit; metric-eval --version >/dev/null); } 2>/dev/null || { echo "skipped: no program of so little memory"; exit 77; }
repeat_ranges "$SOURCE/data/captures/multiplexed.cwd" 40000 60 ranges.cwd
small() { (ulimit -v $limit; metric-eval "$@" 2>&1); }
few=gpu__time_duration.sum,dram__bytes_read.sum.per_second,lts__t_sector_hit_rate.pct
echo "== the list, files and the page"
small ranges.cwd --top 2
small ranges.cwd -q --tidy --csv - -m $few | columns range,name,unit,value,status,occurrences,spread | sed -n 2,4p
small ranges.cwd -q --by device --json - -m $few | tail -c 400
small ranges.cwd --by range --tidy --csv - -m $few --range 39999 | columns range,name,unit,value,status
small ranges.cwd -q -o ranges.h5 >/dev/null
h5dump -d /range/spread -s 0,1 -c 1,2 ranges.h5 | grep '(0,1'
small ranges.cwd -q --report ranges.html && grep -o '"unwanted":0' ranges.html
echo "== commands that take all ranges"
small advise ranges.cwd --top 1 | head -n 4
small diff ranges.cwd ranges.cwd | tail -n 3
small explain ranges.cwd lts__t_sector_hit_rate.pct --range 39999 | head -n 4
small export ranges.cwd --format csv -m $few | tail -n 1 | cut -c 1-60
repeat_ranges "$SOURCE/data/captures/multiplexed.cwd" 600 60 some.cwd
rules=$PWD/gate.yaml
for i in 1 2 3; do cp some.cwd run$i.cwd; done
metric-eval gate --learn run?.cwd -m sm__inst_executed.sum -o $rules >/dev/null
small gate ranges.cwd ranges.cwd --rules $rules | head -n 2
echo "== damage in the middle costs its range"
for place in 10000000 20000000; do printf damage | dd of=ranges.cwd bs=1 seek=$place conv=notrunc status=none; done
small ranges.cwd --top 1
