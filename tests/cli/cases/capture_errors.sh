# A program that cannot run, fails, is killed, or launches nothing; plans that are not plans.
metric-config --chip GH100 -m sm__inst_executed.sum --no-native -o plan.cwc
capture() { capture-agent range -c plan.cwc -o run.cwd "$@"; echo "status $?"; }
capture -- ./no_such_program
capture -- sh -c 'exit 5'
capture -- sh -c 'kill -9 $$'
capture --sim-kernels 0 -- true
capture --sim-kernels 4 --sim-drop 1 -- true
metric-eval show run.cwd | grep -i drop
capture-agent range -c run.cwd -o again.cwd -- true; echo "status $?"
capture-agent range -c nothing.cwc -o run.cwd -- true; echo "status $?"
capture-agent range -c plan.cwc -o no/such/folder/run.cwd -- true; echo "status $?"
head -c 100 plan.cwc >short.cwc
capture-agent range -c short.cwc -o run.cwd -- true; echo "status $?"
capture-agent sample; echo "status $?"
