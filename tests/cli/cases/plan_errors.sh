# What a person gets wrong when planning, and what they read then.
plan() { metric-config --chip GH100 "$@" -o plan.cwc; echo "status $?"; }
plan -m sm__inst_exected.sum
plan -m sm__inst_executed
plan -m sm__inst_executed.sum.per_cycle_activ
plan -m lts__t_sector_hit_rate.percent
plan --set speed-of-ligth
plan --metrics-file nothing.txt
printf 'dram__bytes_read.sum\0sm__inst_executed.sum\n' >cut.txt; plan --metrics-file cut.txt; rm cut.txt
metric-config --chip GH10 -m sm__inst_executed.sum -o plan.cwc; echo "status $?"
metric-config --chip-file nothing.yaml -m sm__inst_executed.sum -o plan.cwc; echo "status $?"
metric-config --chip GH100 -m sm__inst_executed.sum -o no/such/folder/plan.cwc; echo "status $?"
ls
