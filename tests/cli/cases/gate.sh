# Whether a run is worse than another, by rules that were learned from runs of which nothing changed.
C=$SOURCE/data/captures vary=$BIN/../tests/vary_capture
for i in $(seq 10 21); do $vary learn$i.cwd $i 0 '' 1 0 "$C/gpus.cwd"; done
$vary a.cwd 6 1 '' 1 0 "$C/gpus.cwd"
$vary b.cwd 7 1 '' 1 0 "$C/gpus.cwd"
list=sm__inst_executed.sum,lts__t_sector_hit_rate.pct,lts__t_sectors_lookup_hit.sum,gpu__time_duration.sum
metric-eval gate --learn learn*.cwd -o gate.yaml -m $list
grep -vE '^#|kernel|floor|noise: 0[.]' gate.yaml
judge() { # NAME A B [RULES]
    metric-eval gate "$2" "$3" --rules "${4:-gate.yaml}" >out.txt 2>/dev/null
    echo "$1: exit $?, $(head -1 out.txt | cut -d: -f1)"
}
judge "nothing changed" a.cwd b.cwd; cat out.txt
$vary more.cwd 1 same sm__inst_executed 1.01 1 b.cwd
judge "more instructions" a.cwd more.cwd; grep -A1 '    worse' out.txt
judge "less instructions" more.cwd b.cwd
$vary slow.cwd 1 same gpu__time_duration 8 1 b.cwd
judge "slower" a.cwd slow.cwd
judge "faster" slow.cwd a.cwd
$vary unknown.cwd 1 same lts__t_sectors_lookup_hit 3 1 b.cwd
judge "nobody knows" a.cwd unknown.cwd
$vary both.cwd 1 same sm__inst_executed 0.5 1 slow.cwd
judge "slower with less instructions" a.cwd both.cwd
$vary ways.cwd 1 same sm__inst_executed 1.5 1 b.cwd
$vary ways.cwd 1 same gpu__time_duration 0.1 1 ways.cwd
judge "faster with more instructions" a.cwd ways.cwd
$vary facts.cwd 1 same '' 1 0 "$C/facts.cwd"
for i in 1 2 3; do cp "$C/facts.cwd" facts_$i.cwd; cp "$C/transformer.cwd" large_$i.cwd; done
metric-eval gate --learn facts_?.cwd -m launch__registers_per_thread -o facts.yaml
judge "facts of launches" "$C/facts.cwd" facts.cwd facts.yaml; grep compared out.txt
echo "== several runs a side"
metric-eval gate a.cwd learn1[01].cwd --rules gate.yaml -- b.cwd learn1[23].cwd
metric-eval gate --rules gate.yaml -- a.cwd b.cwd | head -1
metric-eval gate a.cwd learn1[01].cwd --rules gate.yaml
metric-eval gate --learn a.cwd b.cwd learn10.cwd -o x.yaml -- learn11.cwd
echo "== what is not judged"
sed 's/noise: 0[.][0-9]*/noise: 1/' gate.yaml >loose.yaml
judge "noise of 100 %" a.cwd slow.cwd loose.yaml; cat out.txt
sed 's/noise: [0-9.]*/noise: unknown/' gate.yaml >none.yaml
judge "nothing is judged" a.cwd slow.cwd none.yaml; cat out.txt
T=$C/transformer.cwd
metric-eval gate --learn large_?.cwd --all -o large.yaml | head -2
judge "all metrics of many kernels can be read" "$T" "$T" large.yaml
echo "== incomparable"
reasons() { grep incomparable: out.txt | sed 's/^ *//' | cut -c1-110; }
judge "another device" a.cwd "$C/nvtx_runs.cwd"; reasons
head -c -30 a.cwd >part.cwd
judge "incomplete" a.cwd part.cwd; reasons
metric-config --chip GH100 -m sm__inst_executed.sum --no-native -o one.cwc
capture-agent range -c one.cwc --kernel nothing -o none.cwd -- true 2>/dev/null
sed 's/^device:.*/device: ""/' gate.yaml >any.yaml
for run in well1:0 well2:0 well3:0 failed:3; do
    capture-agent range -c one.cwc --sim-kernels 1 -o ${run%:*}.cwd -- sh -c "exit ${run#*:}" 2>/dev/null
done
metric-eval gate --learn well?.cwd -o well.yaml >/dev/null
judge "a program that failed" well1.cwd failed.cwd well.yaml; reasons
metric-eval diff well1.cwd failed.cwd 2>/dev/null | sed -n '/alike/,/alone/p'
metric-eval gate --learn well[12].cwd failed.cwd -o failed.yaml; echo "status $?"
judge "empty" none.cwd none.cwd any.yaml; grep -E 'no range|no value' out.txt | sed 's/^ *//'
sed 's/sm__inst_executed.sum/dram__bytes_write.sum/' gate.yaml >other.yaml
judge "a value that none has" a.cwd b.cwd other.yaml; reasons
metric-eval gate a.cwd "$C/transformer.cwd" --rules gate.yaml 2>/dev/null | grep 'B alone$' | head -n 3 # long names are shortened
echo "== JSON"
metric-eval gate a.cwd more.cwd --rules gate.yaml --format json 2>/dev/null >x.json
"$SOURCE/tests/support/follows_schema" "$SOURCE/data/schemas/gate.schema.json" <x.json
python3 -c '
import json
d = json.load(open("x.json"))
print(d["verdict"], [(f["metric"], f["verdict"]) for k in d["kernels"] for f in k["findings"] if k["verdict"] != "same"])'
echo "== mistakes"
metric-eval gate a.cwd b.cwd
metric-eval gate --learn a.cwd b.cwd -o x.yaml
metric-eval gate --learn -o after.yaml -- a.cwd b.cwd learn10.cwd | head -1
metric-eval gate --learn a.cwd b.cwd "$C/nvtx_runs.cwd" -o x.yaml 2>&1 | sed "s,$C/,,"; ls x.yaml 2>&1
mkdir again; ln a.cwd again/hard.cwd; ln -s ../b.cwd again/soft.cwd
metric-eval gate --learn a.cwd b.cwd a.cwd -o x.yaml; ls x.yaml 2>&1
metric-eval gate --learn a.cwd b.cwd again/soft.cwd -o x.yaml; metric-eval gate --learn a.cwd b.cwd again -o x.yaml
for file in - /dev/stdin; do metric-eval gate --learn $file a.cwd b.cwd -o x.yaml <a.cwd; done; ls x.yaml 2>&1
echo text >mine.txt; metric-eval gate --learn learn*.cwd -o mine.txt
echo 'schema: 1' >mine.yaml; metric-eval gate --learn learn*.cwd -o mine.yaml
cp a.cwd kept.cwd
metric-eval gate --learn a.cwd b.cwd learn10.cwd -o b.cwd --force
metric-eval gate --learn a.cwd b.cwd learn10.cwd -o a.cwd --force
cmp a.cwd kept.cwd && metric-eval gate --learn learn*.cwd -o gate.yaml -m $list && echo "rules are replaced"
for text in 'runs: 1' 'chip: GH100' 'chip: GH100
metrics: {m: {better: less}}' 'chip: GH100
metrics: {m: {better: none, noise: 1}}' 'chip: GH100
metrics: {m: {better: less, noise: -1}}' 'chip: GH100
metrics: {m: {better: less, noise: .nan}}' 'chip: GH100
metrics: {m: {better: less, noise: 0.1, floor: unknown}}' 'chip: GH100
metrics: {m: {better: less, noise: 0, kernels: [{kernel: a, noise: 1}, {kernel: a, noise: 2}]}}' 'chip: GH100
metrics: {m: {better: less, noise: 0, why: 1}}' 'chip: GH100
metrics: {no_such.sum: {better: less, noise: 0}}'; do
    printf 'schema: 1\n%s\n' "$text" >bad.yaml
    metric-eval gate a.cwd b.cwd --rules bad.yaml 2>&1 | cut -c1-150
done
echo == what is not in both
metric-eval gate --learn "$SOURCE"/data/captures/runs_[1-5].cwd -o runs.yaml >/dev/null
metric-eval gate "$SOURCE/data/captures/runs_1.cwd" "$SOURCE/data/captures/stream.cwd" --rules runs.yaml 2>&1 | sed -n '1p;/more reasons/p'
echo "== how small a slow-down shows"
metric-eval gate "$C/runs_1.cwd" "$C/runs_6.cwd" --rules runs.yaml; echo "exit $?"
metric-eval gate "$C/runs_1.cwd" "$C/h200_gemm.cwd" --rules runs.yaml -q -o verdict.json -o verdict.csv -o verdict.h5 >/dev/null 2>&1; echo "exit $?"
head -n 2 verdict.csv; h5ls verdict.h5 | cut -d ' ' -f 1
echo "== quietly"
metric-eval gate "$C/runs_1.cwd" "$C/h200_gemm.cwd" --rules runs.yaml -q; echo "exit $?"
metric-eval gate "$C/runs_1.cwd" "$C/runs_6.cwd" --rules runs.yaml -q -o verdict.txt; echo "exit $?"; head -n 1 verdict.txt
metric-eval gate --learn "$C"/runs_[1-3].cwd -o quiet.yaml -q; test -s quiet.yaml; echo "exit $?"
metric-eval gate "$C/runs_1.cwd" no-file.cwd --rules runs.yaml -q; echo "exit $?"
echo "== a slow-down that has to show"
metric-eval gate "$C/runs_1.cwd" "$C/runs_6.cwd" --rules runs.yaml --need 5%; echo "exit $?"
metric-eval gate "$C/runs_1.cwd" "$C/runs_6.cwd" --rules runs.yaml --need 60 | head -n 1
for need in 0% 100% 5%% five; do metric-eval gate a.cwd b.cwd --rules gate.yaml --need "$need" 2>&1 | head -n 1; done
$vary slower.cwd 1 same gpu__time_duration 1.03 7 "$C/runs_6.cwd"
judge "gemm takes 3 % longer" "$C/runs_1.cwd" slower.cwd runs.yaml; grep -A 2 worse: out.txt
echo "== nothing to learn from"
metric-eval gate --learn none.cwd none.cwd none.cwd -o nothing.yaml; echo "exit $?"; ls nothing.yaml 2>&1
