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
echo == a path, or an option with one, before the word
mkdir my.d
touch my.d/run.cwd my.d/run:1.cwd my.d/run:2.cwd :3.cwd
offer counterworks my.d/run.cwd my.y 2>&1
offer counterworks table -o my.d/run.csv my.y 2>&1
offer counterworks table -o/tmp/run.csv --so 2>&1
echo == bash splits words at : and replaces the part behind the last one alone
typed() { # LINE WORDS-OF-IT...
    COMP_LINE=$1 COMP_POINT=${#1}
    shift
    offer "$@"
    unset COMP_LINE COMP_POINT
}
typed 'counterworks table my.d/run:' counterworks table my.d/run :
typed 'counterworks table my.d/run:2' counterworks table my.d/run : 2
typed 'counterworks table :' counterworks table :
typed 'counterworks table --output my.d/run:1' counterworks table --output my.d/run : 1
typed 'counterworks table --output=my.d/run:1' counterworks table --output = my.d/run : 1
typed 'counterworks table --output : my.y' counterworks table --output : my.y
