# A kernel whose capture lacks the counters that show limits does not count as one that has none; by rules of this case
# all limits are looked at, and none holds.
metric-config --chip GH100 -m sm__cycles_active.avg -o plan.cwc
capture-agent range --backend sim -c plan.cwc --kernel adam_0 --launch-count 1 -o few.cwd -- true
metric-eval advise few.cwd | grep limit
metric-eval advise "$SOURCE/data/captures/transpose.cwd" --kernel 'tiled<32>' | grep 'limit '

mkdir data rules
ln -s "$SOURCE"/data/{chips,sets,formulas,glossary.yaml,answers.yaml,products.yaml} data
cat >rules/limiter.yaml <<'END'
schema: 1
tree:
  - {id: cycles, title: Many cycles, when: sm__cycles_active.avg > 1e9}
END
cat >rules/rules.yaml <<'END'
schema: 1
rules:
  cycles: {title: Cycles, when: sm__cycles_active.avg > 1e9, gain: 0.1, text: Cycles., fix: Fewer.}
END
CW_DATA_DIR=$PWD/data metric-eval advise few.cwd --rules rules | grep limit
