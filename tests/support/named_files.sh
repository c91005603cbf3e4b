# The files that writers read, full of one text: to be sourced by cases.
# named_files FOLDER TEXT TEXT-IN-YAML MODULE
named_files() {
    mkdir -p "$1/data/chips" "$1/data/sets" "$1/data/legacy"
    named_images "$1" "$2" "$4"
    cat >"$1/data/chips/tiny.yaml" <<EOT
schema: 1
chip: TINY
source: ["$3"]
time: gpu__time_duration
units:
  gpu: {instances: 1, active: sm__cycles_active, elapsed: sm__cycles_elapsed}
  sm: {instances: 4, active: sm__cycles_active, elapsed: sm__cycles_elapsed}
domains: {trace: 1, gpu_sm_a: 32}
raw_counters: {0x11: [gpu_sm_a], 0x22: [gpu_sm_a, trace], 0x33: [trace]}
counters:
  gpu__time_duration: {unit: gpu, dim: nanoseconds, peak: 1, raw: [0x33]}
  sm__cycles_active: {unit: sm, dim: gpc_cycles, peak: 1, raw: [0x11]}
  sm__cycles_elapsed: {unit: sm, dim: gpc_cycles, peak: 1, raw: [0x11]}
  sm__inst_executed: {unit: sm, dim: instructions, peak: 4, raw: [0x22]}
ratios: {}
throughputs:
  sm__throughput: {unit: sm, dim: percent, counters: [sm__inst_executed, sm__cycles_active], raw: [0x11, 0x22]}
EOT
    printf 'schema: 1\nunits: {sm: "%s", gpu: "%s"}\nleads: {inst: "%s"}\nheads: {executed: "%s"}\n' "$3" "$3" "$3" "$3" \
        >"$1/data/glossary.yaml"
    printf 'schema: 1\nset: shown\ntitle: "%s"\nncu: ["of ncu %s"]\nmetrics: [sm__inst_executed.sum, "%s"]\n' "$3" "$3" "$3" \
        >"$1/data/sets/shown.yaml"
    printf 'schema: 1\nmetrics: {mine: {formula: sm__inst_executed.sum, unit: instructions, description: "%s"}}\n' "$3" >"$1/mine.yaml"
    printf 'schema: 1\nmetrics: {mine: {formula: sm__inst_executed.sum, unit: "%s"}}\n' "$3" >"$1/unit.yaml"
    printf 'schema: 1\nmetrics: {"%s": {formula: 1}}\n' "$3" >"$1/name.yaml"
    printf 'schema: 1\nmetrics: {mine: {formula: "%s"}}\n' "$3" >"$1/formula.yaml"
    printf 'schema: 1\nrules:\n  r: {title: "%.34s", text: "%s", fix: "%s", when: 1, gain: 0.5, evidence: [sm__inst_executed.sum]}\ntree: [{id: a, title: A}]\n' \
        "$3" "$3" "$3" >"$1/rules.yaml"
    printf 'schema: 1\nrules: {r: {title: t, text: "%s{%s}", fix: f, when: 1, gain: 1}}\n' "$3" "$3" >"$1/rule.yaml"
    printf 'schema: 1\nchip: "%s"\n' "$3" >"$1/chip.yaml"
    printf 'schema: 1\nchip: X\n"%s": 1\n' "$3" >"$1/key.yaml"
    printf '{"metrics": ["%s"], "ranges": [[1], [1]]}' "${3//[^a-z]/}" >"$1/check.json"
    printf '{"metrics": ["sm__inst_executed.sum"], "ranges": [[1], [1]]}' >"$1/differs.json"
    printf '%s\n' "$2" >"$1/list.txt"
    printf 'schema: 1\nchips: [TINY]\nmetrics:\n  old_name:\n    scope: {single: [7.0]}\n    description: "%s"\n    none: "%s"\n    closest: [sm__inst_executed.sum]\n    note: "%s"\n    documented: "%s"\nevents: {}\n' \
        "$3" "$3" "$3" "$3" >"$1/data/legacy/cupti.yaml"
}
