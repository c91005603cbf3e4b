# The names of every chip are those that NVIDIA's library enumerates for each profiler: tests/golden/names.txt and
# names_pm.txt have their number and a hash of the set, made by `name_set --library range|pm`. Where the library is found,
# it is asked again. CUPTI does not sample on Volta (GV...), though the library has names for it.
metric-query chips --format json | sed -nE 's/.*"name":"([^"]*)".*"file":"([^"]*)".*/\1 \2/p' | sort -k2 >chips.txt
for profiler in range pm; do
    golden=$SOURCE/tests/golden/names$([ $profiler = range ] || echo _pm).txt
    last=
    while read -r chip path; do
        [ "$path" = "$last" ] || set_of_names=$(for type in counter ratio throughput; do
            metric-query list --chip "$chip" --profiler $profiler --type "$type" --all-submetrics
        done | name_set)
        last=$path
        echo "$chip $set_of_names"
    done < <([ $profiler = range ] && cat chips.txt || grep -v ^GV chips.txt) | sort >ours.txt
    sort "$golden" | diff - ours.txt && echo "$profiler: the same $(wc -l <ours.txt) chips"
    if name_set --library $profiler >theirs.txt 2>why.txt; then
        if [ $profiler = range ]; then cat theirs.txt; else grep -v ^GV theirs.txt; fi | diff "$golden" -
    elif ! grep -q "not found\|no bridge" why.txt; then
        cat why.txt
    fi
done
