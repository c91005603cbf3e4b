# The names of every chip are those that NVIDIA's library enumerates: tests/golden/names.txt has their number and a hash of
# the set, made by `name_set --library`. Where the library is found, it is asked again.
golden=$SOURCE/tests/golden/names.txt
metric-query chips | awk '{print $1, $NF}' | sort -k2 >chips.txt
last=
while read -r chip path; do
    [ "$path" = "$last" ] || set_of_names=$(for type in counter ratio throughput; do
        metric-query list --chip "$chip" --type "$type" --all-submetrics
    done | name_set)
    last=$path
    echo "$chip $set_of_names"
done <chips.txt | sort >ours.txt
sort "$golden" | diff - ours.txt && echo "the same $(wc -l <ours.txt) chips"
if name_set --library >theirs.txt 2>why.txt; then
    diff "$golden" theirs.txt
elif ! grep -q "not found\|no bridge" why.txt; then
    cat why.txt
fi
