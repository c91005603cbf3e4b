# captures of an H200: a PyTorch loop of 332 launches, each counted in one of 10 passes, and samples every 5 us in windows
metric-eval "$SOURCE/data/captures/multiplexed.cwd" | sed -n '1,3p' | cut -c1-90
metric-eval "$SOURCE/data/captures/multiplexed.cwd" --tidy --csv - >rows.csv
head -n 1 rows.csv
grep -o ',[a-z ]*,[0-9]*,[0-9.a-z+-]*$' rows.csv | cut -d , -f 2 | sort | uniq -c
metric-eval "$SOURCE/data/captures/multiplexed.cwd" --kernel softmax -m smsp__inst_executed.sum | tail -n 8
# several passes count cycles: each launch of one of them has them
metric-eval "$SOURCE/data/captures/multiplexed.cwd" --by range -m idc__cycles_elapsed.sum --tidy --csv - |
    columns status | sort | uniq -c
metric-eval show "$SOURCE/data/captures/pm_windows.cwd" | grep -E '^(windows|samples|overflows|launches)'
metric-eval "$SOURCE/data/captures/pm_windows.cwd" | head -n 3
metric-eval "$SOURCE/data/captures/pm_ranges.cwd" | grep -v '::'
