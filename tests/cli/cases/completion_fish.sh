# As completion.sh, for fish, which completes a command line itself.
command -v fish >/dev/null || { echo "skipped: no fish"; exit 77; }
export HOME=$PWD XDG_CONFIG_HOME=$PWD/config
touch my.yaml my.txt 'in two.yaml' 'in two.txt'
mkdir 'a folder' '$d'; touch 'a folder/in two.cwd' '$d/run.cwd'
{
    echo "source $SOURCE/cli/completion/counterworks.fish"
    while read -r line; do echo "echo '$line:' (complete -C '$line' | head -n 6)"; done <<'END'
metric-query co
metric-query list --se
metric-query list --chip GH
metric-query list --chip=GH
metric-query list --chip=GH100 --unit lt
metric-query list --type r
metric-query list --format=c
metric-query describe -c GH100 lts__t_sector_hit_rate.
metric-config --set occ
metric-config --chip GH100 -m sm__inst_executed.sum,lts__t_sector_hit_rate.m
metric-eval ex
counterworks d
counterworks capture --k
counterworks capture --sim-s
capture-agent range --conf
capture-agent range -c my.y
capture-agent range --output=/tmp/run.cwd --conf
capture-agent range -o my.d/run.cwd --conf
capture-agent range -- any
capture-agent range --output in
capture-agent range --output=in
capture-agent range --output=in\ t
capture-agent range --output="in t
capture-agent range -o a\ folder/
metric-eval in\ t
metric-eval "in t
metric-eval \$d/
metric-eval ~/in
metric-config --set in
metric-config --set in\ t
metric-config --set=in\ t
metric-config --set=occ
END
} >offer.fish
fish --no-config offer.fish
