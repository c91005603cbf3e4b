# Counting for the whole device: where the plan knows a counter for it, and said of every range.
metric-config --chip GH100 -m sm__inst_executed.sum --no-native -o gh100.cwc
metric-config --chip GA100 -m sm__inst_executed.sum --no-native -o ga100.cwc
capture-agent range --sim-kernels 2 --scope device -c gh100.cwc -o device.cwd -- true
metric-eval device.cwd --json - | grep -o '"attributes": {"replay.*}, "m'
metric-eval device.cwd -o device.h5 >/dev/null && h5dump -d /range/scope device.h5 | grep '(0): "'
capture-agent range --sim-kernels 2 -c gh100.cwc -o context.cwd -- true
metric-eval context.cwd -o context.h5 >/dev/null && h5dump -d /range/scope context.h5 | grep '(0): "'
capture-agent range --scope device -c ga100.cwc -o run.cwd -- true; echo "status $?"
capture-agent range --scope all -c gh100.cwc -o run.cwd -- true; echo "status $?"
