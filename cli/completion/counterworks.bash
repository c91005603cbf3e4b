# Completion for bash. Commands and options come from --help, names of chips, sets and metrics from metric-query complete:
# nothing here has to follow a change of either. Options that --help=all alone shows come where no other fits.

# _counterworks_commands TEXT: the sub-commands that a --help tells
_counterworks_commands() {
    sed -nE -e 's/^  ([a-z][a-z-]*)  +.*/\1/p' -e 's/^  or:.*\[OPTION\.\.\.\] ([a-z]+) .*/\1/p' \
        -e 's/^([A-Z][a-z]+ +| {10})([a-z]+)  +.*/\2/p' <<<"$1"
}

# _counterworks_options TEXT WORD: the options that a --help has for a word
_counterworks_options() {
    compgen -W "$(sed -nE 's/^ +(-., )?(--[a-z][a-z-]*).*/\2/p' <<<"$1")" -- "$2"
}

# _counterworks_argument TEXT OPTION: what stands after the = of an option, or nothing
_counterworks_argument() {
    local long=$2
    [[ $long == -* && $long != *[^A-Za-z-]* ]] || return 0
    [[ $long == --* ]] || long=$(sed -nE "s/^ +$long, (--[a-z-]+).*/\1/p" <<<"$1")
    [[ -z $long ]] || sed -nE "s/^ +(-., )?$long=([^ ]*).*/\2/p" <<<"$1"
}

# _counterworks_value OPTION ARGUMENT WORD CHIP-OPTIONS...: what the argument of an option may be; fails for a file
_counterworks_value() {
    local option=$1 argument=$2 word=$3
    shift 3
    case $option in
    --metrics | -m) # the last of a list
        local before=
        [[ $word == *,* ]] && before=${word%,*},
        metric-query complete metrics "$@" -- "${word##*,}" 2>/dev/null | sed "s/^/$before/"
        ;;
    --chip) metric-query complete chips "${word^^}" 2>/dev/null ;;
    --unit) metric-query complete units "$@" -- "$word" 2>/dev/null ;;
    --set) # the last of a list
        local first=
        [[ $word == *,* ]] && first=${word%,*},
        metric-query complete sets "${word##*,}" 2>/dev/null | sed "s/^/$first/"
        ;;
    --type) compgen -W "counter ratio throughput formula" -- "$word" ;;
    *)
        [[ $argument == *"|"* ]] || return 1
        compgen -W "${argument//|/ }" -- "$word"
        ;;
    esac
}

_counterworks() {
    local command=$1 word=${COMP_WORDS[COMP_CWORD]} at=$COMP_CWORD help sub='' commands argument i lines
    local -a usage=("$command")
    local -a chip=()
    # bash splits a word at : and at =
    while ((at > 1)) && [[ ${COMP_WORDS[at - 1]} == *: || ${COMP_WORDS[at]} == :* ]] &&
        [[ ${COMP_LINE:0:COMP_POINT} == *"${COMP_WORDS[at - 1]}$word" ]]; do
        ((at--))
        word=${COMP_WORDS[at]}$word
    done
    local before=${COMP_WORDS[at - 1]}
    [[ $before == = ]] && before=${COMP_WORDS[at - 2]}
    [[ $word == = ]] && word=
    help=$("$command" --help=all 2>/dev/null) || return 0
    commands=$(_counterworks_commands "$help")
    for ((i = 1; i < at; i++)); do
        case ${COMP_WORDS[i]} in
        --) return 0 ;;
        --chip | -c) chip=(--chip "${COMP_WORDS[i + 1 + (${#COMP_WORDS[i + 1]} == 1)]}") ;;
        *) [[ -n $sub ]] || ! grep -qxF -e "${COMP_WORDS[i]}" <<<"$commands" || sub=${COMP_WORDS[i]} ;;
        esac
    done
    # a capture instead of a command
    [[ -n $sub || ${command##*/} != counterworks || $at -lt 2 ]] || sub=table
    [[ -z $sub ]] || usage+=("$sub")
    [[ -z $sub ]] || help=$("${usage[@]}" --help=all 2>/dev/null)
    argument=$(_counterworks_argument "$help" "$before")
    [[ $before == -c && $argument == NAME ]] && before=--chip
    if [[ -n $argument ]]; then
        lines=$(_counterworks_value "$before" "$argument" "$word" "${chip[@]}") || lines=$(compgen -f -- "$word")
        [[ $before == --set ]] && lines+=$'\n'$(compgen -f -X '!*.yaml' -- "$word")
    elif [[ $word == -* ]]; then
        lines=$(_counterworks_options "$("${usage[@]}" --help 2>/dev/null)" "$word")
        [[ -n $lines ]] || lines=$(_counterworks_options "$help" "$word")
    else
        case ${command##*/}:$sub in
        metric-query:describe | metric-eval:explain | counterworks:describe | counterworks:explain)
            lines=$(_counterworks_value --metrics '' "$word" "${chip[@]}") ;;
        metric-query:sets | counterworks:sets) lines=$(metric-query complete sets "$word" 2>/dev/null) ;;
        metric-query:complete | counterworks:complete) lines=$(compgen -W "chips sets units metrics" -- "$word") ;;
        *:) lines=$(compgen -W "$commands" -- "$word") ;;
        esac
        lines+=$'\n'$(compgen -f -- "$word")
    fi
    mapfile -t COMPREPLY < <(grep -a . <<<"$lines")
    # the part behind the last : is what bash replaces
    [[ $word == *:* && $COMP_WORDBREAKS == *:* ]] && COMPREPLY=("${COMPREPLY[@]#"${word%:*}:"}")
    # a base name is not the end of a metric's name
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *__* ]] && compopt -o nospace 2>/dev/null
    return 0
}

complete -o filenames -F _counterworks counterworks metric-query metric-config metric-eval metricdb-import capture-agent
