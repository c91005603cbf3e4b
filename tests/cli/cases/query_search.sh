# Finding a metric by what a person calls it, and what is said where nothing is found.
find_first() { metric-query list --chip GH100 --search "$@" | head -"$rows" | cut -f1; }
rows=1
find_first "l2 hit rate"
find_first "Shared Memory bank conflicts"
find_first "dram bytes read"
find_first "lts__t_sector_hit_rate.pct"
# words that people say and no name has
find_first "dram bandwidth"
find_first "occupancy"
find_first "hbm traffic read"
rows=3
find_first "dram bytes read per second" --all-submetrics
find_first '^dram__bytes_(read|write)\.sum$'
find_first 'hits among 32-byte' --type ratio
# every word has to be found, in the name or in the description
metric-query list --chip GH100 --search "slice hit rate" | grep -vc 'L2 cache slice'
metric-query list --chip GH100 --search "l2 bnak"; echo "status $?"
metric-query list --chip GH100 --search "nvlink tensor"; echo "status $?"
metric-query list --chip GH100 --search " "; echo "status $?"
metric-query list --chip GH100 --search 'a b c d e f g h i j k l m n o p q'; echo "status $?"
# formulas are found too
printf 'schema: 1\nmetrics:\n  my_rate: {formula: "sm__inst_executed.sum / 2", description: Half a "frobnication"}\n' >mine.yaml
metric-query list --chip GH100 --metrics-db mine.yaml --search frobnication --format csv
metric-query list --chip GH100 --metrics-db mine.yaml --search frobnication --format json
metric-query list --chip GH100 --metrics-db mine.yaml --type formula --all-submetrics | grep -v __
# every name is printed as describe spells it
metric-query list --chip GH100 --unit dram --all-submetrics | sed -n '1p;73p;$p' >names.txt
cat names.txt
# shellcheck disable=SC2046
metric-query describe --chip GH100 $(cat names.txt) | grep -c meaning
echo == in terminals
for columns in 100 180; do script -qec "stty cols $columns; metric-query list --chip GH100 --search 'l2 hit rate' 2>/dev/null" /dev/null | tr -d '\r' | head -n 4; done
script -qec "stty cols 100; metric-query sets speed-of-light --chip GH100" /dev/null | tr -d '\r' | head -n 5
