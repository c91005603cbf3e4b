# What workloads are known to compute, and what the roofline counts of it: 1 % apart at most.
captures=$SOURCE/data/captures
# CAPTURE KERNEL METRIC KNOWN
known() {
    metric-eval "$captures/$1.cwd" -m "$3" --tidy --csv - | awk -v want="$2" -v known="$4" -v name="$1 $3" '
        index($0, want) {
            n = split($0, cell, ",")
            value = cell[n - 1]
            if (value < 0.99 * known || value > 1.01 * known) { print name ": " value ", known is " known; bad = 1 }
            seen++
        }
        END { print name, seen + 0, bad ? "wrong" : "right" }'
}
product=$((2 * 512 * 512 * 512))
known gemm gemm roofline__flop_fp32 $product
known gemm gemm roofline__flop $product
known h200_gemm gemm roofline__flop_fp32 $product
known tensor __half roofline__flop_tensor_fp16 $product
known tensor __nv_bfloat16 roofline__flop_tensor_bf16 $product
known tensor precision roofline__flop_tensor_tf32 $product
known tensor 'signed char' roofline__op_tensor_int8 $product
known tensor 'double, double, double' roofline__flop_tensor_fp64 $product
# y = y / 2 + x for pairs, 1024 times in each of 131072 threads
known fp16 settle roofline__flop_fp16 $((4 * 1024 * 131072))
# a polynomial of 256 steps, and 256 products and sums, in each of 65536 threads, whose argument takes a division (16)
known fp64 polynomial roofline__flop_fp64 $((2 * 256 * 65536 + 16 * 65536))
known fp64 separate roofline__flop_fp64 $((2 * 256 * 65536 + 16 * 65536))
# the roof that applies to a product: of arithmetic, far above the ridge
metric-eval "$captures/gemm.cwd" -m roofline__fraction,roofline__flop_per_second,roofline__flop_roof,roofline__dram_intensity,roofline__dram_ridge,roofline__flop_tensor_fp16_peak |
    sed 's/process [0-9]*/process N/'
metric-query describe --chip GH100 roofline__dram_intensity | grep -v 0x
# every chip has a roofline, and a plan for it where it has domains (GV11B has none)
for chip in $(metric-query chips --format json | sed -nE 's/.*"name":"([^"]*)".*"file":"([^"]*)".*/\1 \2/p' | awk '!seen[$2]++ {print $1}'); do
    metric-query list --chip "$chip" --type formula | cut -f1 |
        grep -cE '^roofline__(fraction|flop_roof|flop_peak|l2_intensity|flop_fp32_per_second)$'
    metric-config --chip "$chip" --set roofline --no-native -o "$chip.cwc" 2>/dev/null || echo "no plan for $chip"
done | sort | uniq -c
