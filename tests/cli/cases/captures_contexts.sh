# Three contexts of one H100, of which the device serves one at a time: 1, 2 and 3 launches of each, twice.
metric-eval show "$SOURCE/data/captures/contexts.cwd" | grep -E '^(ranges|end)'
metric-eval "$SOURCE/data/captures/contexts.cwd" -m smsp__inst_executed.sum,smsp__sass_inst_executed.sum --csv - |
    cut -d, -f3- | sort | uniq -c
