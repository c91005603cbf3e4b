# Chips side by side, their units, completion, and the compiled form.
chip() { cat >"$1.yaml"; }
chip a <<'END'
schema: 1
chip: AA100
units: {sm: {instances: 2, active: sm__cycles, elapsed: sm__cycles}, lts: {}}
domains: {d: 1}
raw_counters: {0x1: [d], 0x2: [d], 0x3: [d]}
counters:
  sm__cycles: {unit: sm, dim: cycles, peak: 1, raw: [0x1]}
  sm__inst: {unit: sm, dim: instructions, peak: 2, raw: [0x2]}
  sm__old: {unit: sm, dim: instructions, raw: [0x2]}
  lts__rate: {unit: lts, dim: sectors, raw: [0x3]}
ratios:
  sm__ipc: {unit: sm, dim: instructions/cycles, num: sm__inst, den: sm__cycles, raw: [0x1, 0x2]}
throughputs:
  sm__throughput: {unit: sm, dim: percent, counters: [sm__inst, sm__old], raw: [0x2]}
END
chip b <<'END'
schema: 1
chip: BB100
units: {sm: {instances: 4, active: sm__cycles, elapsed: sm__cycles}, lts: {}}
domains: {d: 1}
raw_counters: {0x1: [d], 0x4: [d]}
counters:
  sm__cycles: {unit: sm, dim: cycles, raw: [0x1]}
  sm__inst: {unit: sm, dim: warps, peak: 4, raw: [0x4]}
  sm__new: {unit: sm, dim: instructions, raw: [0x4]}
ratios:
  sm__ipc: {unit: sm, dim: instructions/cycles, num: sm__new, den: sm__cycles, scale: 2, raw: [0x1, 0x4]}
  lts__rate: {unit: lts, dim: sectors, raw: [0x1]}
throughputs:
  sm__throughput: {unit: sm, dim: percent, counters: [sm__inst, sm__new], raw: [0x4]}
END
metric-query compare --chip-file a.yaml --chip-file b.yaml
metric-query compare --chip-file a.yaml --chip-file b.yaml --unit lts --format json
metric-query compare --chip-file a.yaml --chip-file a.yaml
metric-query compare --chip GA100 --chip GH100 --format json | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(d["from"], d["to"], len(d["came"]) > 100, len(d["went"]) > 10, d["same"] > 1000)'
metric-query compare --chip-file a.yaml 2>&1 | head -1
metric-query compare --chip-file a.yaml --chip-file b.yaml --unit lst
metric-query units --chip-file a.yaml
metric-query units --chip GH100 --format csv | grep -E '^(unit|lts|gcc),' | cut -d, -f1,2,7
metric-query units --chip GH100 --format json | grep '"dram"' | sed 's/[0-9][0-9]*/N/g'
# completion: base names, then what may follow one
metric-query complete chips GH
metric-query complete sets oc
metric-query complete units --chip GH100 l
metric-query complete metrics --chip GH100 lts__t_sector_hit
metric-query complete metrics --chip GH100 lts__t_sector_hit_rate.p
metric-query complete metrics lts__t_sector_hit_rate.m
metric-query complete files; echo "status $?"
# a metric that the chip lacks
metric-query describe --chip GV100 lrc__cycles_elapsed.sum 2>&1 | sed 's|a metric of G.*|a metric of others|'
metric-query describe --chip GH100 foo
# the compiled form is written where it is asked for, for every chip
metric-query compile -o compiled a.yaml && ls compiled
metric-query compile -o /dev/null/x a.yaml; echo "status $?"
metric-query compile -o compiled && [ "$(ls compiled | wc -l)" = "$(($(ls "$CW_DATA_DIR"/chips | wc -l) + 1))" ] && echo all
