# As completion.sh, for zsh: what adds candidates is replaced by what prints them.
command -v zsh >/dev/null || { echo "skipped: no zsh"; exit 77; }
cat >offer.zsh <<'END'
compadd() {
    while [[ $1 != -- ]]; do shift; done
    shift
    print -l -- $@ | grep -F -e "$PREFIX"
}
compset() { PREFIX=${PREFIX#*=} }
_files() { print -l -- my*(N) | grep -F -e "$PREFIX" }
_normal() { print the program }
offer() {
    words=("$@")
    CURRENT=$#
    PREFIX=$words[-1]
    print -r -- "$*: ${(f)$(source $SOURCE/cli/completion/_counterworks | head -6)}"
}
offer metric-query co
offer metric-query list --se
offer metric-query list --chip GH
offer metric-query list --chip=GH
offer metric-query list --chip=GH100 --unit lt
offer metric-query list --type r
offer metric-query list --format=c
offer metric-query describe -c GH100 lts__t_sector_hit_rate.
offer metric-config --set occ
offer metric-config --chip GH100 -m sm__inst_executed.sum,lts__t_sector_hit_rate.m
offer metric-eval ex
offer counterworks d
offer counterworks capture --k
offer counterworks capture --sim-s
offer capture-agent range --conf
offer capture-agent range -c my.y
offer capture-agent range --output=/tmp/run.cwd --conf
offer capture-agent range -o my.d/run.cwd --conf
offer capture-agent range -- any
END
touch my.yaml my.txt
zsh -f offer.zsh
