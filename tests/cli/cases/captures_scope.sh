# The same program on an H100, its launches counted for the context and for the device: equal where nothing else ran.
values() {
    metric-eval "$SOURCE/data/captures/scope_$1.cwd" -m smsp__inst_executed.sum,smsp__sass_inst_executed.sum \
        -m l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum --tidy --csv - | columns range,name,kernel,metric,unit,value,status
}
values device | wc -l
diff <(values context) <(values device) && echo equal
metric-eval "$SOURCE/data/captures/scope_device.cwd" --json - | grep -c '"scope": "device"'
