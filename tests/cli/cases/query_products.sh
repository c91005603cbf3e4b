# A product or a compute capability stands for its chip.
chip_of() { metric-query list --chip "$1" --search zzzz 2>&1 | sed -n 's/.*no metric of \([A-Z0-9]*\) .*/\1/p;/found no chip/p'; }
while read -r product; do
    echo "$product: $(chip_of "$product")"
done <<END
H200
NVIDIA H100 80GB HBM3
NVIDIA A100-SXM4-80GB
sm_90
sm_86
l40s
NVIDIA GeForce RTX 3080 Ti
NVIDIA GeForce RTX 3080 Ti Laptop GPU
Tesla T4
Quadro RTX 6000
NVIDIA RTX 6000 Ada Generation
H10O
sm_99
nvidia
RTX
END
# every chip that stands there is one
sed -n 's/^  \(G[A-Z0-9]*\|[TA][UD][0-9]*\):.*/\1/p' "$CW_DATA_DIR/products.yaml" | sort | comm -23 - <(metric-query chips | cut -d' ' -f1 | sort)
metric-config --chip H200 -m sm__cycles_active.avg -o plan.cwc && metric-config --chip GH100 -m sm__cycles_active.avg -o other.cwc && cmp plan.cwc other.cwc && echo same
mkdir data && ln -s "$CW_DATA_DIR"/* data && rm data/products.yaml
CW_DATA_DIR=data chip_of H200
printf 'schema: 1\nbrands: []\nproducts: [GH100]\n' >data/products.yaml
CW_DATA_DIR=data metric-query units --chip H200; echo "status $?"
