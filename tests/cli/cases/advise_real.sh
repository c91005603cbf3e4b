# What the shipped rules say of a real program, a PyTorch training step on an H200 (tests/gpu/transformer.py): kernels of
# cuBLAS that move data by TMA are not told of their few loads of a bias, conversions to bfloat16 that read a sector in two
# halves are not called uncoalesced, and casts of neighbouring words are no chains of loads.
metric-eval advise "$SOURCE/data/captures/transformer.cwd" --format json >advice.json
cat >list.py <<'END2'
import json
for k in json.load(open("advice.json"))["kernels"]:
    name = k["kernel"].replace("void ", "").replace("at::native::", "").replace("(anonymous namespace)::", "")
    told = ", ".join(f"{f['rule']} {f['gain']:.0%}" for f in k["findings"] if f["gain"])
    print(f"{name[:40]:40}  {k['limiter']:26}  {told}".rstrip())
END2
python3 list.py
echo "== a time that is not known"
metric-eval advise "$SOURCE/data/captures/whole_spmv.cwd" | grep -E 'time|nan|launch'
echo "== families"
metric-eval advise "$SOURCE/data/captures/transformer.cwd" | head -n 14
metric-eval advise "$SOURCE/data/captures/transformer.cwd" --by family --top 3
cat >groups.py <<'END2'
import json, sys
advice = json.load(sys.stdin)
for g in advice.get("families") or advice["groups"]:
    told = ", ".join(f"{f['rule']} {f['gain']:.1%} of {f['kernels']}, #{f['range']}" for f in g["findings"])
    print(f"{g['name']:40.40} {g['kernels']:2} {g['launches']:3} {g['share']:.3f}  {g['limiter']} {g['limiter_share']:.0%}  {told}")
print(advice.get("by"), len(advice["kernels"]), advice["short_launches"], round(sum(g["share"] for g in advice.get("families") or advice["groups"]), 4))
END2
metric-eval advise "$SOURCE/data/captures/transformer.cwd" --by family --format json | python3 groups.py
metric-eval advise "$SOURCE/data/captures/transformer.cwd" --by nvtx --format json | python3 groups.py
echo "== what is printed can be given back"
metric-eval advise "$SOURCE/data/captures/transformer.cwd" --kernel nvjet_sm90_tst --by family | head -n 1
ranges=$(metric-eval advise "$SOURCE/data/captures/transformer.cwd" | grep -o -m 1 -e '--range .*')
metric-eval advise "$SOURCE/data/captures/transformer.cwd" $ranges | grep -A 1 '^ *#'
metric-eval advise "$SOURCE/data/captures/transformer.cwd" --by range --top 2 | grep -A 1 -e '^ *#' -e more
echo "== explain knows each name of evidence"
metric-eval explain "$SOURCE/data/captures/transformer.cwd" bytes_per_thread --range 91 | sed -n 2,3p
metric-eval explain "$SOURCE/data/captures/transformer.cwd" l1_use --range 91 --format json | grep '"name": "value'
grep -o '"metric": "[^"]*"' advice.json | sort -u | cut -d '"' -f 4 >names
while read -r name; do
    counterworks explain "$SOURCE/data/captures/transformer.cwd" "$name" --range 91 >told 2>&1 || cat told
done <names
[ "$(grep -vc __ names)" -gt 10 ] || cat names
metric-eval explain "$SOURCE/data/captures/transformer.cwd" gain
metric-eval explain "$SOURCE/data/captures/transformer.cwd" no_value
echo "rules: [" >broken.yaml
metric-eval explain "$SOURCE/data/captures/transformer.cwd" no_value --rules broken.yaml 2>&1 | cut -c1-30
metric-eval explain "$SOURCE/data/captures/transformer.cwd" no_value --rules none.yaml
echo "== short launches"
metric-eval advise "$SOURCE/data/captures/multi.cwd" --top 1 | grep -A 3 'less than'
metric-eval advise "$SOURCE/data/captures/torch_steps.cwd" --by colour
