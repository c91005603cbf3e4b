# When of a program's time is captured, on a machine without a GPU: what is refused, and what a simulated trace makes of it.
metric-config --chip GH100 -m smsp__inst_executed.sum -o plan.cwc
metric-config --chip GH100 --profiler pm -m sm__cycles_active.avg -o pm.cwc
capture-agent range -c plan.cwc -o run.cwd --steady 0 -- true
capture-agent range -c plan.cwc -o run.cwd --steady some -- true
capture-agent range -c plan.cwc -o run.cwd --backend cupti --steady 2 --replay user -- true
capture-agent range -c plan.cwc -o run.cwd --after soon -- true
capture-agent range -c plan.cwc -o run.cwd --backend sim --steady 2 -- true
capture-agent range -c plan.cwc -o run.cwd --backend sim --for 1s -- true
capture-agent pm -c pm.cwc -o run.cwd --backend sim --profiler-api -- true
capture-agent pm -c pm.cwc -o run.cwd --backend sim --after 1s -- true
capture-agent pm -c pm.cwc -o run.cwd --backend cupti --steady all --duration 1s
capture-agent pm -c pm.cwc -o run.cwd --backend cupti --steady all --no-trace -- true
capture-agent trace -o run.cwd --backend sim --steady 2 -- true
capture-agent trace -o run.cwd --steady 2 --attach 1
capture-agent trace -o run.cwd --backend sim --after 1000s --for 2ms -- true
metric-eval show run.cwd | grep window
