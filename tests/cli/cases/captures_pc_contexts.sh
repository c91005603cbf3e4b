# PC sampling of a program with three contexts of one H100: the first is sampled, to its end
metric-eval show "$SOURCE/data/captures/pc_contexts.cwd" | grep -E '^(samples|batches|end)'
metric-eval "$SOURCE/data/captures/pc_contexts.cwd" --csv - | cut -d, -f1-3 | head -3
