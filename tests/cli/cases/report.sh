# The page of --report has the values that other outputs have, and how they came about; what it cannot be made of is told.
captures=$SOURCE/data/captures
metric-eval "$SOURCE/tests/advice/h200.cwd" --report page.html
metric-eval "$SOURCE/tests/advice/h200.cwd" --by kernel --json - >kernels.json
metric-eval advise "$SOURCE/tests/advice/h200.cwd" --format json >advice.json
metric-eval explain "$SOURCE/tests/advice/h200.cwd" lts__t_sector_hit_rate.pct --range '^k02b' --format json >explained.json
cat >compare.py <<'END'
import json, math, re, sys
page = open("page.html").read()
parts = {id: json.loads(text) for id, text in re.findall(r'<script type="application/json" id="(\w+)">\n(.*?)\n</script>', page, re.S)}
data, wanted = parts["data"], json.load(open("kernels.json"))
index = {m["name"]: i for i, m in enumerate(data["metrics"])}
compared = 0
for row in wanted["groups"]:
    kernel = next(k for k in data["kernels"] if k["name"] == row["group"])
    for m in row["metrics"]:
        if m["name"] not in index:
            if m["status"] not in ("not collected", "unavailable"):
                print("not on the page:", m["name"])
            continue
        i = index[m["name"]]
        value, status = kernel["values"][i], data["statuses"][int(kernel["statuses"][i])]
        same = value == m["value"] or (None not in (value, m["value"]) and math.isclose(value, m["value"], rel_tol=1e-8))
        if not same or status != m["status"]:
            print(row["group"], m, value, status)
        compared += 1
print("compared", compared > 20000)
print("advice", parts["advice"]["kernels"] == json.load(open("advice.json"))["kernels"])
# the counters on the page are those of explain, and the formula gives the value
hit = data["metrics"][index["lts__t_sector_hit_rate.pct"]]
kernel = next(k for k in data["kernels"] if k["name"].startswith("k02b"))
text = hit["formula"]
for c in hit["counters"]:
    counter, values = data["counters"][c], kernel["counters"][c]
    for r, name in enumerate(("sum", "avg", "min", "max")):
        text = re.sub(r"\b%s\(%s\)" % (name, counter["name"]), repr(values[r]), text)
    print(counter["name"], counter["passes"])
print(hit["formula"])
print("formula", math.isclose(eval(text), kernel["values"][index[hit["name"]]], rel_tol=1e-7))
print("network", re.findall(r'(?:src|href)="?\w+://', page), page.count("Content-Security-Policy"))
END
python3 compare.py

echo "== what is left out"
repeat_ranges "$captures/gemm.cwd" 3000 1000 many.cwd
metric-eval many.cwd --report many.html
grep -oE '"(all_kernels|launches_left)":[0-9]+' many.html
[ "$(grep -c '^{"name":"void ns::kernel_' many.html)" = 143 ] || echo "found $(grep -c '^{"name":"void ns' many.html) kernels"

echo "== what a capture does not hold"
metric-eval "$captures/once_collective.cwd" --range 0-5 --report once.html
grep -oE '"(unwanted|told)":.*' once.html
metric-eval "$captures/nvtx_levels.cwd" --report nvtx.html
sed -n '/^"nvtx":/,/nvtx_left/p' nvtx.html | head -3

echo "== usage"
try() { metric-eval "$@" --force; echo "status $?"; }
try "$captures/gemm.cwd" --baseline "$captures/gemm.cwd" 2>&1 | head -1
try "$captures/gemm.cwd" --with "$captures/gemm.cwd" --report x.html
try "$captures/gemm.cwd" --baseline "$captures/pm_gemm.cwd" --report x.html
try "$captures/pm_gemm.cwd" --baseline "$captures/gemm.cwd" --report x.html
try "$captures/gemm.cwd" --report x.html --range nothing
try "$captures/gemm.cwd" --report x.html -m nothing
try "$captures/gemm.cwd" --report x.html --sort share
cp "$captures/gemm.cwd" x.cwd
try x.cwd --report x.cwd
ls x.html 2>&1
metric-eval "$captures/gemm.cwd" --report - -m sm__inst_executed_pipe_fp64.sum | grep -o '"name":"sm__inst_executed_pipe_fp64.sum"'
for capture in gemm trace_train pm_gemm pc_gemm; do metric-eval "$captures/$capture.cwd" --report - --json x.json | tail -n 1; done
try "$captures/pm_gemm.cwd" --report x.html -m nonesuch
try --check values.json "$captures/gemm.cwd" --report x.html 2>&1 | grep -v "^Try"
try --native run.native "$captures/gemm.cwd" --report x.html 2>&1 | grep -v "^Try"

echo "== the baseline has the same ranges"
h200=$SOURCE/tests/advice/h200.cwd
against() { metric-eval "$h200" --baseline "$@" --report y.html --force; echo "status $?"; grep -oE '^"total(_before)?":[0-9.]+|"gone"|"before"' y.html | sort | uniq -c | sed 's/^ *//'; }
against "$h200" --kernel '^k02b|k02a'
against "$h200" --range 0,5-6
against "$captures/gemm.cwd" --range 0,5
against "$captures/gemm.cwd" --kernel k02b
metric-eval many.cwd --baseline many.cwd --report y.html --force; grep -c '"before"' y.html
