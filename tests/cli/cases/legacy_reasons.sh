# Stall reasons by the names of CUPTI's activity API: samples add up, in every output, and a capture takes them.
pc=$SOURCE/data/captures/pc_gemm.cwd
metric-eval "$pc" --by legacy-reason --top 2
count() { awk -F, 'NR > 1 { samples += $(NF - 1); none += $NF; rows++ } END { print rows " rows, " samples " samples, " none " not issued" }'; }
metric-eval "$pc" --csv - | count
metric-eval "$pc" --by legacy-reason --csv - | count
metric-eval "$pc" --by kernel; echo "status $?"
metric-eval "$SOURCE/data/captures/sass_gemm.cwd" --by legacy-reason; echo "status $?"
metric-eval "$SOURCE/data/captures/gemm.cwd" --by legacy-reason; echo "status $?"
capture() { capture-agent pc -o pc.cwd "$@" -- true; echo "status $?"; }
reasons() { metric-eval pc.cwd "$@" --csv - | awk -F, 'NR > 1 { print $(NF - 2) }' | sort -u; }
capture --stall-reasons MEMORY_DEPENDENCY,CUPTI_ACTIVITY_PC_SAMPLING_STALL_SYNC
reasons
reasons --by legacy-reason
capture --stall-reasons TEXTURE
