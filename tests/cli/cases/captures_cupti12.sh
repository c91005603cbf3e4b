# The same program on an H100 with CUPTI 12.8 and 13.0: what is counted is equal, and the file says which it was.
values() {
    metric-eval "$SOURCE/data/captures/$1.cwd" -m smsp__inst_executed.sum,smsp__sass_inst_executed.sum \
        -m l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum --tidy --csv - | columns range,name,kernel,metric,unit,value,status
}
values cupti12 | wc -l
diff <(values scope_device) <(values cupti12) && echo equal
metric-eval show "$SOURCE/data/captures/cupti12.cwd" | grep 'cupti:'
