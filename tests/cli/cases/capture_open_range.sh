# A user range that the program leaves open ends with the program, as the agent's library ends it.
metric-config --chip GH100 -m sm__inst_executed.sum --no-native -o plan.cwc
cat >program <<'EOF'
exec >$COUNTERWORKS_SIM
echo push step; echo launch gemm; echo pop
echo start window; echo push open; echo launch gemm
EOF
capture-agent range -c plan.cwc --ranges user --levels 2 -o run.cwd -- sh program
metric-eval run.cwd --by range -q --format csv | cut -d, -f 1,2
