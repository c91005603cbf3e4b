# Outputs of metric-eval: each in its own regular file, whole or not at all, wherever its name leads.
metric-config --chip GH100 --no-native -m sm__inst_executed.sum -o plan.cwc
capture=$SOURCE/data/captures/gemm.cwd
evaluate() { metric-eval $capture -m sm__inst_executed.sum "$@" >/dev/null; echo "status $?"; }
kind() { h5dump -H "$1" >/dev/null 2>&1 && echo "$1: HDF5" || echo "$1: $(head -c 5 "$1")"; }
echo == a link leads to the file
: >target; ln -s target link; chmod 640 target
evaluate -o link; kind target; evaluate --csv link --force; kind target; [ -L link ] && echo the link is there
echo == a pipe is none
mkfifo pipe; evaluate -o pipe; [ -p pipe ] && echo the pipe is there
exec 8<>pipe 9<pipe # it has a reader before anybody writes
cat <&9 >piped 8>&- &
evaluate --csv pipe >code 8>&- 9<&-; exec 8>&- 9<&-; wait; head -n 1 piped; cat code
echo == standard output is written where it stands
{ echo heading; metric-eval $capture -m sm__inst_executed.sum --csv /dev/stdout; echo tail; } >mix; grep -v ^0 mix
for i in 1 2; do metric-eval $capture -m sm__inst_executed.sum --csv /dev/stdout >>twice; done; grep -c ^range, twice
metric-eval $capture -m sm__inst_executed.sum -o /dev/stdout >>twice; echo "status $?"; grep -c ^range, twice
(capture-agent range --backend sim -c plan.cwc -o /dev/null -- sleep 1) & capture-agent range --backend sim -c plan.cwc -o /dev/null -- true; echo "status $?"; wait
echo == one who knows the number of the process
echo precious >victim
sh -c 'ln -s victim out.h5.$$.tmp; exec metric-eval "$@" >/dev/null' sh $capture -m sm__inst_executed.sum -o out.h5
cat victim; kind out.h5
echo == one file for two
cp $capture own.cwd; ln own.cwd same.cwd
capture=own.cwd
evaluate --format h5 -o own.cwd; evaluate --csv same.cwd; evaluate --csv a --json a; evaluate --csv - --json -
cmp own.cwd "$SOURCE/data/captures/gemm.cwd" && echo the capture is there
echo == a name that is no text
capture=$'\xff.cwd'; cp own.cwd $capture
evaluate --json out.json; evaluate -o out.h5
grep -c '"?.cwd"' out.json; h5dump -a /source out.h5 | grep -o '"?.*"'
echo == no room, no folder
capture=own.cwd; rm -f out.*
for output in '-o out.h5' '--csv out.csv' '--json out.json'; do (ulimit -f 2; metric-eval $capture --all $output >/dev/null; echo "status $?"); done
(ulimit -f 2; TMPDIR=$PWD metric-eval $capture --all -o - 2>&1 >/dev/null | sed "s,$PWD,TMPDIR,; s/counterworks\.[^:]*/counterworks.NAME/")
ls out.* counterworks.* 2>/dev/null
evaluate -o none/out.h5
echo == an HDF5 that cannot be loaded
mkdir broken; : >"broken/$(grep -aoE 'libhdf5[a-z_]*\.so\.[0-9]+' "$(command -v metric-eval)" | head -n 1)"
LD_LIBRARY_PATH=$PWD/broken metric-eval $capture -o out.h5 2>&1 >/dev/null | sed 's/loaded: .*/loaded/'; echo "status ${PIPESTATUS[0]}"; ls out.* 2>/dev/null
LD_LIBRARY_PATH=$PWD/broken metric-eval $capture -m sm__inst_executed.sum --csv - | wc -l
echo == a full device
for format in csv json; do
    for capture in gemm pm_gemm pc_gemm sass_gemm; do
        metric-eval "$SOURCE/data/captures/$capture.cwd" --$format /dev/full; echo "status $?"
        metric-eval "$SOURCE/data/captures/$capture.cwd" --$format - >/dev/full; echo "status $?"
    done
done
metric-eval "$SOURCE/data/captures/gemm.cwd" --csv none/x; echo "status $?"
echo == all metrics go to the file, and nothing to the terminal
steps=$SOURCE/data/captures/multi.cwd
metric-eval "$steps" --all --tidy --csv all.csv 2>/dev/null | wc -l
[ "$(wc -l <all.csv)" -gt 1000 ] && echo and more in the file
metric-eval "$steps" --all --wide | grep -c '^  Time and launch'
echo == a plan that names no metrics
python3 -c '
import sys; sys.path.insert(0, sys.argv[1])
from make_attacks import *
open("unnamed.cwd", "wb").write(ranges(one_range("a", "b", [FIVE]), metrics=()))' "$SOURCE/tests/attacks"
for output in '-o all.h5' '--csv all.csv' '--json all.json'; do metric-eval unnamed.cwd --all --force $output | grep -v '^$'; echo "status ${PIPESTATUS[0]}"; done
metric-eval unnamed.cwd --all --tidy --csv - | columns kernel,metric,value,status | sed -n 1,3p; metric-eval unnamed.cwd --csv -; echo "status $?"
echo == what is refused, or fails, leaves no file and no other as it was
everything='-o out/x.h5 --csv out/x.csv --json out/x.json --report out/x.html'
refuse() { # CAPTURE OPTIONS...
    rm -rf out; mkdir out; printf 'range,name,kernel,\n' >out/x.csv
    (cd "$SOURCE/data/captures" && exec metric-eval "$1" "${@:2}" ${everything//out/"$OLDPWD/out"}) >/dev/null 2>told
    echo "$1 ${*:2}: status $?, $(ls out | wc -l) file of $(wc -c <out/x.csv) bytes"; sed "s/^[^:]*: //; s,$PWD/,," told | cut -c1-100
}
for option in '--kind kernel' '--by copy' '--kernel nothing' '--range nothing' '--sort nothing' '--filter nothing>1' '-m nothing' '--with none.cwd'; do
    refuse gemm.cwd $option
done
for option in '--all' '-m sm__inst_executed.sum' '--kernel nothing' '--kind nothing' '--rank 99' '--chip-file x'; do refuse trace_train.cwd $option; done
for option in '--all' '--range 1' '--kind kernel'; do refuse pc_gemm.cwd $option; done
for option in '--range 1' '--kernel x' '--kind kernel'; do refuse pm_gemm.cwd $option; done
everything='-o out/x.h5 --report out/x.html --csv out/x.csv --json out/none/x.json'; refuse gemm.cwd; refuse trace_train.cwd --kind kernel
everything='--report out/x.html --csv out/x.csv -o out/none/x.h5'; refuse gemm.cwd; refuse pm_gemm.cwd
join() { metric-eval join "$SOURCE/tests/fuzz/corpus/trace/sim-work" "$SOURCE/data/captures/gemm.cwd" -q "$@" 2>&1 >/dev/null | cut -c1-60; }
rm -rf out; mkdir out; join -o out/x.h5 --csv out/x.csv --json out/none/x.json; ls out
make_ranks "$SOURCE/data/captures/gpus.cwd" 3 . && metric-eval ranks run.*.cwd -q --report out/x.html --csv out/none/x.csv 2>&1 >/dev/null; ls out
echo == files are there when nobody reads the rest of standard output
python3 -c '
import os, signal, subprocess, sys
reads, writes = os.pipe()
os.close(reads)
done = subprocess.run(sys.argv[1:], stdout=writes, preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
print("SIGPIPE" if done.returncode == -signal.SIGPIPE else done.returncode)' \
    metric-eval "$SOURCE/data/captures/gemm.cwd" -q --csv - --json out/x.json --report out/x.html
ls out
