# No command replaces one of its inputs, not even with --force.
metric-config --chip GH100 -m sm__inst_executed.sum --no-native -o plan.cwc
for i in 1 2 3; do capture-agent range --sim-kernels 2 -c plan.cwc -o $i.cwd --sim-seed $i -- true; done
mkdir folder; cp 1.cwd folder/a.cwd; cp 2.cwd folder/b.cwd; ln -s folder/a.cwd link.cwd; echo folder/a.cwd >list
mkdir equal; for i in 1 2 3; do cp 1.cwd equal/$i.cwd; done
echo sm__inst_executed.sum >names; metric-eval gate -q --learn equal/?.cwd -o rules.yaml 2>/dev/null
cat >own.yaml <<'EOF'
schema: 1
metrics:
  twice.sum: {unit: inst, formula: 2 * sm__inst_executed.sum}
EOF
cksum 1.cwd folder/*.cwd plan.cwc names rules.yaml own.yaml list >before
refused() { "$@" >out 2>err; status=$?; head -1 err; [ $status = 2 ] || echo "status $status: $*"; }
refused metric-eval merge 1.cwd 2.cwd -o 1.cwd
refused metric-eval merge folder/b.cwd link.cwd -o folder/a.cwd
refused metric-eval merge 2.cwd folder/a.cwd --redact -o link.cwd
refused metric-eval merge folder -o folder/b.cwd
refused metric-eval merge @list -o list --force
refused metric-eval 1.cwd --force --csv 1.cwd
refused metric-eval 1.cwd --metrics-file names --force --csv names
refused metric-eval 1.cwd --metrics-db own.yaml --force --csv own.yaml
refused metric-eval report 1.cwd --with 2.cwd --baseline 3.cwd --format html --force -o 3.cwd
refused metric-eval export 1.cwd --format prometheus --force -o 1.cwd
refused metric-eval show 1.cwd --force --format json -o 1.cwd
refused metric-eval show folder --force --format json -o folder/b.cwd
refused metric-eval explain 1.cwd sm__inst_executed.sum --force --format json -o 1.cwd
refused metric-eval advise 1.cwd --with 2.cwd --force --format json -o 2.cwd
refused metric-eval advise 1.cwd --rules rules.yaml --force --format json -o rules.yaml
refused metric-eval ranks 1.cwd --force --csv 1.cwd
refused metric-eval diff 1.cwd 2.cwd --force --format json -o 2.cwd
refused metric-eval diff 1.cwd --force --format json -o folder/b.cwd -- folder
refused metric-eval gate 1.cwd 2.cwd --rules rules.yaml --force --format json -o rules.yaml
refused metric-eval gate 1.cwd 2.cwd --rules rules.yaml --force --format json -o 1.cwd
refused metric-eval gate --learn 1.cwd 2.cwd 3.cwd --force -o 3.cwd
refused metric-eval gate --learn 2.cwd 3.cwd folder --force -o folder/a.cwd
refused metric-config --chip GH100 --metrics-file names --force -o names
refused metric-config --chip GH100 -m twice.sum --metrics-db own.yaml --force -o own.yaml
refused capture-agent range --force -c plan.cwc -o plan.cwc -- true
refused capture-agent decode --native plan.cwc --force -o plan.cwc
cksum 1.cwd folder/*.cwd plan.cwc names rules.yaml own.yaml list | cmp - before && echo every input is as before
# a file of the same name elsewhere, and a further capture of a folder, are others
metric-eval merge 1.cwd 2.cwd -o folder/1.cwd; metric-eval merge folder -o all.cwd; metric-eval show all.cwd | grep ranges
echo a list that can be read once
printf '%s\n' "$SOURCE/data/captures/runs_1.cwd" | metric-eval diff @- "$SOURCE/data/captures/runs_2.cwd" -q -o once.json
echo "status $?"
