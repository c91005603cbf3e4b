# Sub-commands of metric-eval: each explains itself; a first word that names none is a capture, unless it nearly names one.
metric-eval --help | grep -A4 "^Commands:"
for command in show explain merge; do metric-eval $command --help | head -1; done
metric-eval show --range gemm "$SOURCE/data/captures/gemm.cwd"
metric-eval show --rangee gemm "$SOURCE/data/captures/gemm.cwd"
metric-eval --topp 3 "$SOURCE/data/captures/gemm.cwd"
metric-eval shwo run.cwd
cp "$SOURCE/data/captures/gemm.cwd" show
metric-eval show show | head -2
