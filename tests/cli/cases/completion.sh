# What the shells offer after a beginning of a command line. The last word is the one being completed.
source "$SOURCE/cli/completion/counterworks.bash"
offer() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _counterworks "$1"
    echo "$*: ${COMPREPLY[*]:0:6}"
}
offer metric-query co
offer metric-query list --se
offer metric-query list --chip GH
offer metric-query list --chip = gh
offer metric-query list -c GA10
offer metric-query list --chip GH100 --unit lt
offer metric-query list --type r
offer metric-query list --format ""
offer metric-query describe --chip GH100 lts__t_sector_hit
offer metric-query describe --chip GH100 lts__t_sector_hit_rate.
offer metric-query complete un
offer metric-config --set occ
touch my.yaml my.txt
offer metric-config --set my
offer metric-config --chip GH100 -m sm__inst_executed.sum,lts__t_sector_hit_rate.m
offer metric-config -c GV100 -m lrc__t_sec
offer metric-config --metrics-file my.
offer metric-eval ex
offer counterworks d
offer counterworks l
offer counterworks capture --k
offer counterworks capture --sim-s
offer counterworks explain run.cwd lts__t_sector_hit_rate.
offer counterworks run.cwd --so
offer capture-agent do
offer capture-agent range --conf
offer capture-agent range -c my.y
offer capture-agent range --backend s
offer capture-agent range -- anything
