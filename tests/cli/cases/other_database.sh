# A capture stays readable when the database changes: by its counters' names.
capture=$SOURCE/data/captures/gemm.cwd
sed 's/\<lts__t_sectors_lookup_miss\>/lts__t_sectors_not_found/g' "$SOURCE/data/chips/gh100.yaml" >gh100.yaml
metric-eval "$capture" --chip-file gh100.yaml -m lts__t_sectors_op_read.sum --csv - | awk -F, '{print $NF}'
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
