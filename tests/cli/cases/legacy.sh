# CUPTI's old names evaluate; those without an equivalent say so and name the closest.
capture=$SOURCE/data/captures/gemm.cwd
metric-eval $capture -m achieved_occupancy,ipc,gld_efficiency --csv - | cut -d, -f5-
metric-eval $capture -m cf_fu_utilization --csv -; echo "status $?"
metric-eval $capture -m achieved_ocupancy --csv -; echo "status $?"
metric-config --chip GH100 -m warp_execution_efficiency --no-native --explain | tail -1
metric-query legacy --chip GH100 cf_fu_utilization
metric-query legacy --chip GH100 achieved_ocupancy; echo "status $?"
# describe knows them, too
metric-query describe --chip GH100 achieved_occupancy | grep -E '^a|meaning|evidence'
metric-query describe --chip GH100 achieved_ocupancy; echo "status $?"
metric-query describe --chip GA100 ipc; echo "status $?"
# GV100 is the chip that CUPTI's documentation maps them to
metric-query legacy --chip GV100 half_precision_fu_utilization
metric-query legacy --chip GV100 --capability 7.0 | grep -vc 'none: '
metric-config --chip GV100 -m half_precision_fu_utilization,l2_l1_read_throughput --no-native --explain | tail -1
metric-query legacy --chip GA100 ipc; echo "status $?"
