# Facts of 13 launches on an H200 (tests/gpu/facts.cu), each of which equalled what CUDA's runtime told the program there,
# as did the blocks that a multiprocessor holds.
metric-eval "$SOURCE/data/captures/facts.cwd" --tidy --csv - -m "launch__registers_per_thread,launch__shared_mem_per_block_static,\
launch__shared_mem_per_block_dynamic,launch__shared_mem_per_block_driver,launch__local_mem_per_thread,\
launch__cluster_dim_x,launch__cooperative,launch__occupancy_limit" | columns range,name,metric,value,status
metric-eval show "$SOURCE/data/captures/facts.cwd" | grep -E 'per_multiprocessor|warp_size'
