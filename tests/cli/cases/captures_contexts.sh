# Three contexts of one H100, of which the device serves one at a time: 1, 2 and 3 launches of each, twice.
metric-eval show "$SOURCE/data/captures/contexts.cwd" | grep -E '^(ranges|end)'
metric-eval "$SOURCE/data/captures/contexts.cwd" -m smsp__inst_executed.sum,smsp__sass_inst_executed.sum --tidy --csv - |
    columns kernel,metric,unit,value,status | sort | uniq -c
# launches by context, in JSON and in HDF5
metric-eval "$SOURCE/data/captures/contexts.cwd" --json - | grep -o '"context": [0-9]*' | sort | uniq -c | awk '{print $1}' | sort
metric-eval "$SOURCE/data/captures/contexts.cwd" -o contexts.h5
metric-eval "$SOURCE/data/captures/contexts.cwd"
h5dump -y -w 1 -d /range/context contexts.h5 | grep -o '[0-9]\{9,\}' | sort | uniq -c | awk '{print $1}' | sort
