# A plan for the GPUs of a node: their chip, without what they lack.
cat >node.json <<'END'
{
  "schema": 1,
  "devices": [
    {"device": 0, "chip": "GH100", "attributes": {"name": "NVIDIA H100 80GB HBM3", "multiprocessors": "132"},
     "does": ["range", "pm", "pc", "sass"], "lacks": ["nvlrx", "nvltx", "nothing_known"]},
    {"device": 1, "chip": "GH100", "does": ["range"], "lacks": ["nvltx", "pcie", "nvlrx"]}
  ]
}
END
plan() { metric-config --no-native "$@"; echo "status $?"; }
plan --device-facts node.json --set pm-overview --profiler pm -o pm.cwc
plan --device-facts node.json --set pm-overview --profiler pm --explain | grep -E "^GH100|pcie__read|nvl"
echo "what all of them lack is refused"
plan --device-facts node.json -m nvlrx__bytes.sum.per_second -o no.cwc
plan --device-facts node.json --chip H100 -m pcie__read_bytes.sum -o pcie.cwc
echo "a throughput is the largest of what is there"
sed 's/"nvltx"/"nvltx", "dram"/' node.json >dram.json
plan --device-facts dram.json -m gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed -o memory.cwc
plan --device-facts dram.json -m dram__throughput.avg.pct_of_peak_sustained_elapsed -o memory.cwc
echo "everything, and advice"
plan --device-facts node.json --all -o all.cwc
plan --device-facts node.json --for-advice -o advice.cwc
echo "a node of several chips, one without the chip, one that does nothing"
sed 's/1, "chip": "GH100"/1, "chip": "GA100"/' node.json >two.json
plan --device-facts two.json --set demo -o demo.cwc
plan --device-facts two.json --chip GA100 --set demo -o demo.cwc
plan --device-facts two.json --chip GA100 --profiler pm --set pm-overview -o demo.cwc
plan --device-facts two.json --chip AD102 --set demo -o demo.cwc
sed 's/"does": .*"sass"\]/"does": []/; s/"does": \["range"\]/"does": ["pc"]/' node.json >nothing.json
plan --device-facts nothing.json --set demo -o demo.cwc
echo "as other tools write it"
python3 -c 'import json; json.dump(json.load(open("node.json")), open("short.json", "w"), separators=(",", ":"))'
plan --device-facts short.json --set pm-overview --profiler pm -o short.cwc && cmp pm.cwc short.cwc && echo the same plan
echo "wrong ones"
plan --device-facts node.json --chip-file x.yaml --set demo -o demo.cwc 2>&1 | grep -v Try
plan --device-facts nowhere.json --set demo -o demo.cwc
for change in 's/"schema": 1/"schema": 2/' 's/"devices"/"gpus"/' 's/"device": 1/"device": -1/' 's/"does": \["range"\]/"does": "range"/' 's/, "does": \["range"\]//' 's/"multiprocessors": "132"/"multiprocessors": {}/' 's/\["nvltx"/["a b"/'; do
    sed "$change" node.json >bad.json
    plan --device-facts bad.json --set demo -o demo.cwc
done
python3 - <<'END'
gpu = '{"device": 0, "chip": "GH100", "does": ["range"], "lacks": [%s]}'
open("many.json", "w").write('{"schema": 1, "devices": [%s]}' % ", ".join([gpu % ""] * 65))
open("lacks.json", "w").write('{"schema": 1, "devices": [%s]}' % (gpu % ", ".join(f'"u{i}"' for i in range(257))))
open("none.json", "w").write('{"schema": 1, "devices": []}')
END
for file in many lacks none; do plan --device-facts $file.json --set demo -o demo.cwc; done
