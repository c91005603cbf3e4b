# PC samples and SASS metrics of the simulated GPU: captured, shown and written in every form.
capture-agent pc -o pc.cwd --sim-seed 3 --sim-drop 10 --period 10 -- sh -c 'echo the program runs'
metric-eval pc.cwd --top 3
metric-eval pc.cwd --csv - | cut -d, -f1,3-6,8-12 | head -3
metric-eval pc.cwd --json - | tail -n +3 | sed 's/"process": [0-9]*/"process": N/' | head -2
metric-eval pc.cwd -o pc.h5 >/dev/null
h5dump -n pc.h5 | grep -E 'dataset|group' | sed 's/  */ /g'
h5dump -H -d /pc/samples pc.h5 | grep -E 'DATATYPE  H5T|SIMPLE|DIMENSION_LIST' | sort -u | sed 's/  */ /g'
metric-eval show pc.cwd | grep -E '^(profiler|dropped|modules|samples|batches)'
capture-agent sass -m smsp__sass_inst_executed,smsp__sass_thread_inst_executed:sm -o sass.cwd -- true
metric-eval sass.cwd --top 2
metric-eval sass.cwd -o sass.h5 >/dev/null
h5dump -n sass.h5 | grep -E 'dataset|group' | sed 's/  */ /g'
metric-eval show sass.cwd | grep -E '^(profiler|metrics|records|values)'
echo a capture that was cut keeps its whole batches
head -c $(($(wc -c <pc.cwd) / 2 + 600)) pc.cwd >cut.cwd
metric-eval cut.cwd --top 1
echo what does not fit
metric-eval pc.cwd --all; echo "status $?"
capture-agent pc -o pc.cwd --period 4 -- true 2>&1 | head -1
capture-agent pc -o pc.cwd --mode slow -- true 2>&1 | head -1
capture-agent sass -m a:warp -o sass.cwd -- true 2>&1 | head -1
capture-agent sass -m a,b,a:sm -o sass.cwd -- true 2>&1 | head -1
capture-agent pc -o pc.cwd -- sh -c 'exit 3'; echo "status $?"
capture-agent pc -o pc.cwd -- sh -c 'kill -9 $$'; echo "status $?"
metric-eval show pc.cwd | grep '^end'
echo the simulated GPU is asked for its own lists
capture-agent pc --list; echo "status $?"
capture-agent sass --list --backend sim; echo "status $?"
