# A capture stays readable when the database changes: by its counters' names.
capture=$SOURCE/data/captures/gemm.cwd
sed 's/\<lts__t_sectors_lookup_miss\>/lts__t_sectors_not_found/g' "$SOURCE/data/chips/gh100.yaml" >gh100.yaml
metric-eval "$capture" --chip-file gh100.yaml -m lts__t_sectors_op_read.sum --tidy --csv - | awk -F, '{print $NF}'
metric-eval "$capture" --chip-file gh100.yaml -m lts__t_sectors_lookup_miss.sum; echo "status $?"
sed 's/^chip: GH100/chip: GH200/' "$SOURCE/data/chips/gh100.yaml" >gh200.yaml
metric-eval "$capture" --chip-file gh200.yaml -m lts__t_sectors.sum; echo "status $?"
# names of chips that share a file, in any case; a plan is for the one that was asked for
metric-config --no-native --chip gb207 -m sm__inst_executed.sum --explain | head -1
metric-config --no-native --chip GA10B --set pcie-nvlink --explain 2>&1 | head -2 | cut -c1-120
metric-config --no-native --chip TU116 -m nvlrx__bytes.sum --explain; echo "status $?"
metric-config --no-native --chip GV11B --set demo --explain 2>&1 | tail -1
printf 'schema: 1\nset: links\ntitle: t\nmetrics: [nvlrx__bytes.sum, nvltx__bytes.sum]\n' >links.yaml
metric-config --no-native --chip AD102 --set links.yaml --explain; echo "status $?"
# a name may stay and mean something else: other raw counters, another formula
echo 'schema: 1
metrics: {per_warp: {formula: "smsp__inst_executed.sum / sm__warps_launched.sum"}, twice: {formula: "2 * dram__bytes_read.sum"}}' >own.yaml
metric-config --no-native --chip GH100 --metrics-db own.yaml -m lts__t_sector_hit_rate.pct,per_warp,twice -o plan.cwc
capture-agent range -c plan.cwc -o run.cwd --sim-kernels 1 -- true
metric-eval run.cwd --metrics-db own.yaml --tidy --csv - | columns metric,status
sed -e '/^  sm__warps_launched:/s/raw: .*/raw: [0x817da99c7eb73a7e]}/' -e '/^  dram__bytes_read:/s/_read: 32}/_read: 64}/' \
    "$SOURCE/data/chips/gh100.yaml" >other.yaml
sed -i 's/2 \* dram/3 * dram/' own.yaml
metric-eval run.cwd --chip-file other.yaml --metrics-db own.yaml --tidy --csv - | columns metric,status
# a formula that was not known when it was planned is no other meaning
sed -e '/^  sm__warps_launched:/s/ of: .* confirmed: 7,//' "$SOURCE/data/chips/gh100.yaml" >before.yaml
metric-config --no-native --chip-file before.yaml -m sm__warps_launched.sum -o before.cwc
capture-agent range -c before.cwc -o before.cwd --sim-kernels 1 -- true
metric-eval before.cwd --tidy --csv - | columns metric,status
metric-eval merge run.cwd run.cwd -o twice.cwd && metric-eval twice.cwd --chip-file other.yaml -m dram__bytes_read.sum --csv - | wc -l
