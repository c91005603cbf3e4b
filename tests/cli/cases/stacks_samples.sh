# Stacks of PC samples: samples that no stack can have are told, and a frame of a source line has its file and line.
captures=$SOURCE/data/captures
metric-eval export "$captures/pc_turns.cwd" --format folded | awk '{sum += $NF} END {print sum}'
metric-eval export "$captures/pc_turns.cwd" --format folded -q | wc -l
metric-eval export "$captures/pc_gemm.cwd" --format folded | head -n 2
metric-eval export "$captures/pc_gemm.cwd" --format speedscope | grep -m 3 'name": "gemm'
