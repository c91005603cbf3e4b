# What an H100 recorded of workloads/gemm.cu: PC samples, and SASS metrics, whose sum over the instructions is what the
# hardware counter says of the same kernel in another capture.
captures=$SOURCE/data/captures
metric-eval "$captures/pc_gemm.cwd" --top 2 --source-path "$captures/workloads"
metric-eval "$captures/pc_gemm.cwd" --csv - |
    awk -F, 'NR > 1 {n += $(NF - 1); none += $NF} END {print n " samples have a reason, in " none " nothing was issued"}'
metric-eval "$captures/sass_gemm.cwd" --top 2
metric-eval "$captures/sass_gemm.cwd" | grep gemm.cu:15 | head -1 # a share that is not 0
metric-eval "$captures/gemm.cwd" -m smsp__inst_executed.sum,smsp__thread_inst_executed.sum --tidy --csv - |
    awk -F, 'NR > 1 {print $(NF - 3), $(NF - 1)}'
# Three kernels of a program on an H200, each launched five times: 32 threads for each warp.
metric-eval "$captures/sass_nvtx.cwd" --csv - | columns function,metric,sum |
    awk -F, 'NR > 1 {n[$(NF - 1) " of " $1] += $NF} END {for (k in n) print n[k], k}' | sort -n
# Of the same, all launches in ranges of one name, and the second launch of another kernel.
for part in range launch; do
    metric-eval show "$captures/sass_$part.cwd" | grep filter
    metric-eval "$captures/sass_$part.cwd" --csv - | columns function,sum | awk -F, 'NR > 1 {n[$1] += $NF} END {for (k in n) print n[k], k}'
done
echo "== a folder of sources that is not there"
echo text >file
for folder in none file; do
    for of in "$captures/pc_gemm.cwd" "$captures/sass_gemm.cwd --top 1" "report $captures/pc_gemm.cwd -o page.html" "$captures/gemm.cwd"; do
        metric-eval ${of%% *} --source-path "$captures/workloads" --source-path $folder ${of#${of%% *}} >printed; echo "$? $(wc -c <printed)"
    done
done
ls page.html 2>/dev/null || echo no page
