# tests/advice/score on findings of a stand-in: what it counts as right, what as noise, and the error of the gain.
cat >metric-eval <<'END'
#!/bin/sh
echo '{"kernels": [
{"kernel": "k01a(float*)", "findings": [{"rule": "uncoalesced-global", "gain": 0.8}, {"rule": "imbalance", "gain": 0.1}]},
{"kernel": "k01b(float*)", "findings": [{"rule": "at-roof", "gain": 0}]},
{"kernel": "k04a(float*)", "findings": [{"rule": "imbalance", "gain": 0.9}, {"rule": "uncoalesced-global", "gain": 0.4}]},
{"kernel": "k04b(float*)", "findings": [{"rule": "imbalance", "gain": 0.16}]},
{"kernel": "k02b(float*)", "findings": []},
{"kernel": "k48a(float*)", "findings": [{"rule": "imbalance", "gain": 0.14}]}]}'
END
chmod +x metric-eval
cat >ncu.csv <<'END'
==PROF== a line of the profiler
"ID","Kernel Name","Rule Name","Rule Description","Estimated Speedup"
"0","k02b(float*)","IssueSlotUtilization","Every scheduler","99.5"
"0","k02b(float*)","UncoalescedGlobalAccess","This kernel has uncoalesced global accesses","80"
"0","k02a(float*)","","",""
END
"$SOURCE/tests/advice/score" ./metric-eval run.cwd --cases --ncu ncu.csv
echo "exit $?"
"$SOURCE/tests/advice/score" --check ./metric-eval run.cwd >/dev/null
echo "exit $?"
"$SOURCE/tests/advice/score" ./metric-eval 2>&1 | head -n 1
