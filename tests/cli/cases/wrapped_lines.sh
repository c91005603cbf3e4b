# Lines that a terminal is too narrow for break between words; files and pipes get them whole.
C=$SOURCE/data/captures
explain=sm__throughput.avg.pct_of_peak_sustained_elapsed
terminal() { script -qec "stty cols 100; $*" /dev/null </dev/null | tr -d '\r'; }
cd "$C" || exit 1
for command in "metric-config --chip GH100 --for-advice --explain" "metric-eval explain transformer.cwd $explain --range 99" \
    "metric-eval explain transformer.cwd latency --range 99" "metric-query legacy --chip GH100" "metric-query sets" "metric-query chips" "metric-query sets PmSampling" \
    "capture-agent trace --list-kinds"; do
    echo "== $command"
    terminal "$command 2>/dev/null" | awk 'length > 100 { print length ": " $0 } END { print (NR > 10) }'
    terminal "$command 2>/dev/null" | tr -s ' \n' '  ' | cmp - <($command 2>/dev/null | tr -s ' \n\t' '   ')
done
terminal metric-query units --chip GH100 | awk 'length > 100 { print length ": " $0 } END { print (NR > 10) }'
terminal metric-eval explain transformer.cwd $explain --range 99 | sed -n '4,6p;/= 100/,/= 100/p;/^  counter/,/^  idc__request/p' | head -n 12
terminal metric-config --chip GH100 -m $explain --explain | tail -n 2
terminal metric-query legacy --chip GH100 | sed -n 1,5p
terminal metric-query legacy --chip GH100 atomic_transactions_per_request | sed -n '/formula/,/measured/p'
