# Threads of one H100 that launch, copy and capture graphs at the same time: what ran while a stream was captured is missing.
metric-eval show "$SOURCE/data/captures/threads.cwd" | grep -E '^(ranges|end|dropped)'
metric-eval "$SOURCE/data/captures/threads.cwd" -m smsp__inst_executed.sum --tidy --csv - | columns name,kernel,metric,unit,value,status | sort | uniq -c
