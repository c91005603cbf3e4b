# Files of other profilers open as captures. The fixtures of tests/foreign have the layout of real ones.
cp "$SOURCE"/tests/foreign/* .
sqlite3 nsys.sqlite <nsys.sql
echo == ncu, a column for each metric
counterworks ncu_raw.csv
counterworks ncu_raw.csv --kernel gemm
metric-eval ncu_raw.csv -q --by range --csv - -m dram__bytes_read.sum.per_second,lts__t_sector_hit_rate.pct | sed 's/.*host_end_ns/host_end_ns/; s/.*,0,0,/0,/'
echo == ncu, a line for each value
counterworks ncu_metrics.csv -q
echo == nsys, Kineto
counterworks nsys.sqlite | sed -n '1,/^$/p;/^Time/,/^$/p;/^Copies/,/^$/p'
counterworks kineto.json | sed -n '1,/^$/p;/^Time on/,/^$/p;/^NVTX/,/^$/p'
metric-eval show nsys.sqlite | sed -n '/^  kernel/p;/^  driver/p;/^  runtime/p;/^process/p'
metric-eval kineto.json -q --kind copy --csv -
echo == beside one another, and beside captures
counterworks diff kineto.json nsys.sqlite | grep gemm
counterworks join nsys.sqlite ncu_raw.csv -q | head -5
counterworks merge kineto.json -o kept.cwd -q && counterworks diff kept.cwd kineto.json | tail -1
counterworks diff ncu_metrics.csv "$SOURCE/data/captures/gemm.cwd" | grep -A1 'device name'
for file in kineto.json nsys.sqlite ncu_raw.csv; do counterworks - -q <$file >piped; counterworks - -q < <(cat $file) | diff - piped | head -3; done
echo == what is not read
try() { "$@" 2>&1 | head -2; }
head -c 700 kineto.json >cut.json; try counterworks cut.json -q
echo '{"a": 1}' >other.json; try counterworks other.json
echo '[{"ph" 1}]' >bad.json; try counterworks bad.json
echo '{"traceEvents": []}' >empty.json; try counterworks empty.json
echo '{"traceEvents" 3}' >colon.json; try counterworks colon.json
{ printf '[{"ph": "X", "name": "'; head -c 1100000 /dev/zero | tr '\0' x; echo '"}]'; } >long.json; try counterworks long.json
head -c 5000 nsys.sqlite >cut.sqlite; try counterworks cut.sqlite
sqlite3 view.sqlite "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE c(start) AS (SELECT 1 UNION ALL SELECT start + 1 FROM c) SELECT start FROM c; CREATE TABLE x (y);"
try counterworks view.sqlite
sed -n 5,6p ncu_raw.csv >heads.csv; try counterworks heads.csv
sed 's/"9.0"/"2.0"/; s/NVIDIA H100/NVIDIA X1/' ncu_raw.csv >chip.csv; try counterworks chip.csv
sed 's/,"CC"/,"XX"/' ncu_raw.csv >column.csv; try counterworks column.csv
printf '"ID","Process ID","CC\n' >quote.csv; try counterworks quote.csv
printf 'NVR\0 a report of ncu' | tee run.ncu-rep >"run.nsys-rep"; gzip -c kineto.json >kineto.json.gz
for file in run.ncu-rep run.nsys-rep kineto.json.gz -; do try metric-eval $file <kineto.json.gz; done
cat kineto.json.gz | try metric-eval -; zcat kineto.json.gz | metric-eval - -q --kind kernel --csv - | cut -d, -f1-3
