# JSON Schemas for the YAML files that people write: the shipped files follow them, and what the commands refuse does not.
python3 -c 'import jsonschema, yaml' 2>/dev/null || { echo "skipped: no jsonschema, or no yaml, for Python"; exit 77; }
follows() { "$SOURCE/tests/support/follows_schema" "$SOURCE/data/schemas/$1.schema.json" --yaml "${@:2}"; }
follows metrics "$SOURCE"/data/formulas/*.yaml
follows set "$SOURCE"/data/sets/*.yaml
follows rules "$SOURCE"/data/rules/*.yaml "$SOURCE/data/limiter.yaml"
metric-eval gate --learn "$SOURCE"/data/captures/runs_[1-3].cwd -q -o gate.yaml >/dev/null && follows gate_rules gate.yaml
wrong() { # SCHEMA TEXT COMMAND...: refused by the schema, and by the command
    printf '%b' "$2" >wrong.yaml
    follows "$1" wrong.yaml
    "${@:3}" 2>&1 >/dev/null | head -1
}
plan="metric-config --chip GH100 -o out"
wrong metrics 'schema: 1\nmetrics:\n  a: {unit: s}\n' $plan --metrics-db wrong.yaml -m a
wrong metrics 'schema: 2\nmetrics:\n  a: {formula: 1}\n' $plan --metrics-db wrong.yaml -m a
wrong set 'schema: 1\nset: a\ntitle: b\nmetric: [c]\n' $plan --set ./wrong.yaml
wrong rules 'schema: 1\nrules:\n  a: {title: b, when: 1, gain: 1, text: c, fix: d, more: e}\n' metric-eval advise "$SOURCE/data/captures/gemm.cwd" --rules ./wrong.yaml
wrong gate_rules 'schema: 1\nchip: GH100\nmetrics:\n  time: {better: lower, noise: 0}\n' metric-eval gate "$SOURCE"/data/captures/runs_[12].cwd --rules wrong.yaml
