# Counter data that is cut off, damaged, of another version or something else.
metric-config --chip GH100 -m sm__inst_executed.sum --no-native -o plan.cwc
capture-agent range --sim-kernels 3 -c plan.cwc -o run.cwd -- true
evaluate() { metric-eval "$1" --tidy --csv - >rows; status=$?; columns range,metric,value,status <rows; echo "status $status"; }
size=$(stat -c %s run.cwd)
head -c $((size - 10)) run.cwd >cut.cwd
evaluate cut.cwd
head -c 40 run.cwd >stub.cwd
evaluate stub.cwd
cp run.cwd flipped.cwd
printf '\x55' | dd of=flipped.cwd bs=1 seek=60 conv=notrunc status=none
evaluate flipped.cwd
cp run.cwd version.cwd
printf '\x09' | dd of=version.cwd bs=1 seek=8 conv=notrunc status=none
evaluate version.cwd
evaluate plan.cwc
: >empty.cwd
evaluate empty.cwd
evaluate /etc/passwd
evaluate nothing.cwd
