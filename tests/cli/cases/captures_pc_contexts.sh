# PC sampling of a program with three contexts of one GPU: the first is sampled, to its end, or they take turns
metric-eval show "$SOURCE/data/captures/pc_contexts.cwd" | grep -E '^(samples|batches|end)'
metric-eval "$SOURCE/data/captures/pc_contexts.cwd" --csv - | cut -d, -f1-3 | head -3
metric-eval show "$SOURCE/data/captures/pc_turns.cwd" | grep -E '^(samples|batches|end)'
metric-eval "$SOURCE/data/captures/pc_turns.cwd" --csv - | columns function,samples | awk -F, 'NR > 1 {n[$1] += $NF} END {for (k in n) print n[k], k}' | sort
