# CUPTI's old names evaluate; those without an equivalent say so and name the closest.
capture=$SOURCE/data/captures/gemm.cwd
metric-eval $capture -m achieved_occupancy,ipc,gld_efficiency --tidy --csv - | columns metric,unit,value,status
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
# other chips take the formula that they know; what they lack has a reason
for chip in A100 T4 L40S B200; do
    metric-query legacy --chip $chip | cut -f1 >all.txt
    metric-query legacy --chip $chip | grep -v 'none: ' | cut -f1 | sort -u >names.txt
    metric-config --chip $chip --metrics-file names.txt --no-native -o plan.cwc && echo "$chip: $(wc -l <names.txt) names planned"
done
metric-query legacy --chip A100 half_precision_fu_utilization | grep formula
metric-query legacy --chip L40S nvlink_total_data_received | grep -E 'no formula|closest'
metric-config --chip L40S -m nvlink_total_data_received -o plan.cwc; echo "status $?"
# a utilization as the level that CUPTI gave
metric-eval $capture -m issue_slot_utilization,issue_slot_utilization.level --tidy --csv - | columns metric,unit,value,status
metric-config --chip A100 -m dram_utilization.level,ipc.level -o plan.cwc; echo "status $?"
