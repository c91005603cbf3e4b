# A plan of everything: a capture of it has each name of the chip that has a formula.
metric-config --chip GH100 --all --no-native --explain -o all.cwc | grep -oE '[0-9]+ counters, [0-9]+ raw counters'
capture-agent range -c all.cwc -o all.cwd --sim-kernels 1 -- true
# GV100 cannot collect some of its counters in any pass: they are left out
metric-config --chip GV100 --all --no-native -o gv100.cwc 2>/dev/null && echo planned
metric-eval all.cwd --all --frame-ns 1e6 --region-ns 1e6 --tidy --csv all.csv >all.txt
export LC_ALL=C
# (formulas and facts, which nobody plans, apart)
columns metric <all.csv | grep -vE '^(launch|roofline|device)__|^sm__maximum_warps_' | sort >evaluated
for type in counter ratio throughput; do
    metric-query list --chip GH100 --type $type --all-submetrics
done | sort | comm -23 - evaluated >lacking
grep -vc '^metric$' evaluated
wc -l <lacking
# these names may be planned as well, each hundredth also whole, which takes longer
grep -v '^metric$' evaluated >names
metric-config --chip GH100 --metrics-file names --prefer time --no-native -o names.cwc && echo planned
awk 'NR % 100 == 0' names >some
metric-config --chip GH100 --metrics-file some --no-native -o some.cwc && echo planned
# what lacks are whole metrics without a formula: no counter is among them
metric-query list --chip GH100 --type counter --all-submetrics | sort | comm -12 - lacking
grep -v pct_of_peak lacking | sed 's/\.[a-z]*$//' | sort -u
metric-query describe --chip GH100 tpc__average_cta_latency.ratio | grep -E 'evidence|formula'
metric-config --chip GH100 -m tpc__average_cta_latency.ratio -o no.cwc; echo "status $?"
# nor do captures give them, and it is said why
metric-eval all.cwd -m tpc__average_cta_latency.ratio,lts__throughput_internal_activity.avg.pct_of_peak_sustained_elapsed \
    --tidy --csv - | columns metric,status
metric-eval explain all.cwd tpc__average_cta_latency.ratio
