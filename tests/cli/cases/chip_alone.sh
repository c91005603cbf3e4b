# A chip's file is enough by itself, and what is wrong with another chip's does not matter.
capture=$SOURCE/data/captures/gemm.cwd chips=$CW_DATA_DIR/chips
CW_DATA_DIR=/nonexistent metric-config --chip-file "$chips/gh100.yaml" -m sm__cycles_active.avg --no-native -o plan.cwc && echo planned
CW_DATA_DIR=/nonexistent metric-eval "$capture" --chip-file "$chips/gh100.yaml" -m sm__cycles_active.avg --csv - | wc -l
mkdir -p data/chips && ln -s "$CW_DATA_DIR"/* data 2>/dev/null; ln -s "$chips"/* data/chips && echo 'schema: [' >data/chips/zz.yaml
export CW_DATA_DIR=$PWD/data
metric-config --chip GH100 -m sm__cycles_active.avg --no-native -o other.cwc && cmp plan.cwc other.cwc && echo same
metric-eval "$capture" -m sm__cycles_active.avg --csv - | wc -l
# a capture of another chip is told before what the names are
for asked in "-m ipc" "--set nosuch" "-m sm__cycles_active.avg --metrics-db /nowhere"; do
    # shellcheck disable=SC2086
    metric-eval "$capture" --chip-file "$chips/ad102.yaml" $asked 2>&1 | sed "s#.*: found#found#"
done
# the lint prints what it found before it reads the user's metrics
metric-query lint --chip GH100 --metrics-db /nowhere.yaml 2>&1 | tail -1
rm data/glossary.yaml
metric-query describe --chip GH100 sm__cycles_active.avg 2>&1 | sed "s#$PWD/##" | head -2
# a glossary that is there but cannot be read is an error
mkdir data/glossary.yaml
metric-eval "$capture" -m sm__cycles_active.avg 2>&1 | sed "s#$PWD/##" | head -1
metric-query describe --chip GH100 sm__cycles_active.avg 2>&1 | sed "s#$PWD/##" | head -2
