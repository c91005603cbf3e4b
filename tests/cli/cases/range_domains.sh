# a range of a domain is DOMAIN@NAME in every way to collect
cat >program.sh <<'END'
exec >"$COUNTERWORKS_SIM"
printf '%s\n' 'domain NCCL collective' 'push reduce' 'launch first' 'pop' 'push reduce' 'launch second' 'pop' \
    'domain NCCL collective' 'start whole' 'launch third' 'end whole' 'launch fourth'
END
metric-config --chip GH100 -m sm__inst_executed.sum --no-native -q -o range.cwc
metric-config --chip GH100 --profiler pm -m sm__inst_executed.sum --no-native -q -o pm.cwc
tried() { # COMMAND WORDS-OF-IT...: by each expression, what was captured, or why nothing was
    local command=$1 expression
    shift
    for expression in '^NCCL@reduce$' '^reduce$' '^NCCL@whole$' '^whole$'; do
        rm -f a.cwd
        capture-agent "$command" "$@" --range "$expression" -q -o a.cwd -- sh program.sh >told 2>&1
        echo "$command $expression: $(listed "$command") $(tail -n 1 told)"
    done
}
listed() {
    case $1 in
    range) metric-eval a.cwd -q --csv - 2>/dev/null | columns kernel ;;
    pm) metric-eval a.cwd --by nvtx 2>/dev/null | grep samples ;;
    trace) metric-eval a.cwd --kind kernel -q --csv - 2>/dev/null | columns name ;;
    *) metric-eval a.cwd -q --csv - 2>/dev/null | columns function | sort -u ;;
    esac | sed '/^kernel$/d; /^name$/d; /^function$/d' | paste -sd, -
}
tried range -c range.cwc
tried pm -c pm.cwc
tried pc
tried sass -m smsp__sass_inst_executed
tried trace
# at any depth
{
    echo 'exec >"$COUNTERWORKS_SIM"'
    seq 100 | sed 's/.*/echo push level &/'
    echo 'echo launch deep; echo pop'
} >program.sh
rm a.cwd
capture-agent pm -c pm.cwc --range '^level 100$' -q -o a.cwd -- sh program.sh
metric-eval show a.cwd | grep -E '^(windows|samples):'
