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
