# What a person gets wrong when asking, and what they read then.
query() { metric-query "$@"; echo "status $?"; }
query
query lst
query list --chip GH10
query list --chip-file nothing.yaml
query list --chip GH100 --unit ls
query list --chip GH100 sm__warps_actve
query list --chip GH100 --search '('
query list --chip GH100 --type metric 2>&1 | head -1
query list 2>&1 | head -1
query describe --chip GH100 2>&1 | head -1
query describe --chip GH100 lts__t_sector_hitrate.pct
echo "== an abbreviation, in all three commands"
query describe --chip GH100 sm__inst_exec.sum
metric-config --chip GH100 -m sm__thruput.avg.pct_of_peak_sustained_elapsed -o x.cwc
metric-eval "$SOURCE/data/captures/gemm.cwd" -m lts__sector_hit.sum
metric-eval "$SOURCE/data/captures/gemm.cwd" -m sm__x.sum
echo "== sections and sets of Nsight Compute without a set here"
for set in SourceCounters PmSampling_WarpStates WorkloadDistribution Nvlink_Topology NumaAffinity detailed; do metric-config --chip GH100 --set $set -o x.cwc; done
echo "== formats"
query describe --chip GH100 --format csv sm__inst_executed 2>&1 | head -1
query describe --chip GH100 --format xml sm__inst_executed 2>&1 | head -1
printf 'schema: 1\nchip: X\nunits: {u: {}}\ndomains: {d: 1}\nraw_counters: {0x1: []}\ncounters: {u__bytes: {unit: u, dim: bytes, raw: [0x1]}}\nratios:\nthroughputs:\n' >x.yaml
query lint --chip-file x.yaml 2>&1 | grep -vE 'set-metric|rule-lacks' | sed 's/[0-9]* warnings/N warnings/'
# what advice cannot tell on such a chip, of rules and of the tree
query lint --chip-file x.yaml 2>&1 | grep -E 'rule-lacks' | grep -E 'tail-wave|node (roof|latency > barrier),' | sed 's/^.*data.//'
metric-query list --chip GH100 >/dev/full; echo "status $?"
