# A real trace of two GPUs: copies between them with both devices and contexts, and facts of the node beside the driver's.
peers=$SOURCE/data/captures/trace_peers.cwd
metric-eval "$peers" --kind copy --csv - -q | columns device,context,bytes,direction,source_device,source_context,target_device,target_context
metric-eval "$peers" --kind unified_memory --csv - -q | columns type,source_device,target_device | sed 1d | sort | uniq -c | sed 's/^ *//'
metric-eval show "$peers" | grep -E '^device|^  (uuid|ecc|mig|pcie|nvlinks|peers):' | sed 's/GPU-.*/GPU-.../'
metric-eval merge --redact "$peers" -o shared.cwd
metric-eval show shared.cwd | grep -E '^  (uuid|peers):'
metric-eval diff "$peers" "$SOURCE/data/captures/trace_whole.cwd" -q | grep -cE '^ *(uuid|peers|pci) ' || true # places are no difference
counterworks report "$peers" -o page.html -q && grep -c '"peers":"0000:00:07.0 NV18 access atomics"' page.html
