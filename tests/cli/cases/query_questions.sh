# What people ask for in their own words has an answer among the first three. Each line of questions.txt is a question and
# what one of the three has to match.
while IFS=$'\t' read -r question wanted; do
    metric-query list --chip GH100 --search "$question" 2>told | head -3 | cut -f1 | grep -qE "$wanted" || echo "no good answer: $question"
done <"$SOURCE/tests/cli/questions.txt"
wc -l <"$SOURCE/tests/cli/questions.txt"
# forms of a word, their order and small words do not matter
for question in spill spilled spilling "l2 hit" "hits in the L2"; do metric-query list --chip GH100 --search "$question" | sort | md5sum; done | uniq -c | awk '{ print $1 }'
# every name in answers.yaml is a metric of some chip, every set is one
grep -oE '[a-z0-9]+__[a-z0-9_]+(\.[a-z0-9_]+)+' "$CW_DATA_DIR/answers.yaml" | sort -u >names
for chip in GH100 GA100 TU102 GB100 GB202; do metric-query list --chip $chip --all-submetrics; done | sort -u | comm -13 - names
sed -n 's/^    sets: \[\(.*\)\]$/\1/p' "$CW_DATA_DIR/answers.yaml" | tr -s ', ' '\n' | sort -u | comm -23 - <(metric-query sets | cut -d' ' -f1 | sort)
metric-query list --chip GH100 --search "L2 hit rate" | head -2
metric-query list --chip GH100 --search "gld_efficiency" | head -1
metric-query list --chip GH100 --search "power draw"; echo "status $?"
metric-query list --chip GH100 --search "WarpStateStats" --type ratio --unit smsp --format csv | head -2
mkdir data && ln -s "$CW_DATA_DIR"/* data && rm data/answers.yaml
CW_DATA_DIR=data metric-query list --chip GH100 --search "l2 hit rate" | head -1
printf 'schema: 1\naside: []\nanswers:\n  - asked: hit\n' >data/answers.yaml
CW_DATA_DIR=data metric-query list --chip GH100 --search "l2 hit rate"; echo "status $?"
