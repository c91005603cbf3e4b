# Completion for fish. Commands and options come from --help, names of chips, sets and metrics from metric-query complete.
# Options that --help=all alone shows come where no other fits.

# the --help of the command line at hand, with that of its sub-command
function __counterworks_help # ALL
    set -l words (commandline -xpc 2>/dev/null; or commandline -opc)
    set -l help ($words[1] --help=all 2>/dev/null)
    set -l commands (__counterworks_commands $help)
    for word in $words[2..]
        if contains -- $word $commands
            $words[1] $word $argv 2>/dev/null
            return
        end
    end
    # a capture instead of a command
    if test (basename $words[1]) = counterworks -a (count $words) -gt 1
        $words[1] table $argv 2>/dev/null
    else
        $words[1] $argv 2>/dev/null
    end
end

# the sub-commands that a --help tells
function __counterworks_commands
    printf '%s\n' $argv | sed -nE -e 's/^  ([a-z][a-z-]*)  +.*/\1/p' -e 's/^  or:.*\[OPTION\.\.\.\] ([a-z]+) .*/\1/p' \
        -e 's/^([A-Z][a-z]+ +| {10})([a-z]+)  +.*/\2/p'
end

# --chip and its name, if the command line has them
function __counterworks_chip
    string match -rg -- '(?:--chip[ =]|-c )(\S+)' "$argv" | tail -n 1 | sed 's/^/--chip\n/'
end

# the files of a word as it stands on the command line, with its quotes, as fish completes them for an unknown command
function __counterworks_files # WORD
    complete -C "__fish_command_without_completions $argv[1]"
end

# what the argument of an option may be
function __counterworks_value # OPTION ARGUMENT WORD
    set -l before (string match -rg '^(.*,)' -- $argv[3])
    set -l last (string replace -r '^.*,' '' -- $argv[3])
    set -l line (commandline -p 2>/dev/null)
    switch $argv[1]
        case --metrics -m
            metric-query complete metrics (__counterworks_chip $line) -- "$last" 2>/dev/null | string replace -r -- '^' "$before"
        case --set
            metric-query complete sets "$last" 2>/dev/null | string replace -r -- '^' "$before"
            __counterworks_files "$argv[3]" | string match -r -- '.*(?:/|\.yaml)$'
        case --chip
            metric-query complete chips (string upper -- "$argv[3]") 2>/dev/null
        case --unit
            metric-query complete units (__counterworks_chip $line) -- "$argv[3]" 2>/dev/null
        case --type
            printf '%s\n' counter ratio throughput formula
        case '*'
            if string match -q '*|*' -- $argv[2]
                string split '|' -- $argv[2]
            else
                __counterworks_files "$argv[3]"
            end
    end
end

function __counterworks_complete
    set -l words (commandline -xpc 2>/dev/null; or commandline -opc)
    set -l word (commandline -ct)
    set -l before $words[-1]
    contains -- -- $words; and return
    set -l help (__counterworks_help --help=all)
    # --option=value
    set -l option (string match -rg '^(--[a-z-]+)=' -- $word)
    if test -n "$option"
        set -l value (string replace -r '^--[a-z-]+=' '' -- $word)
        set -l argument (printf '%s\n' $help | sed -nE "s/^ +(-., )?$option=([^ ]*).*/\2/p")
        __counterworks_value $option "$argument" "$value" | string replace -r -- '^' "$option="
        return
    end
    if string match -qr -- '^--?[A-Za-z-]+$' $before
        set -l long $before
        string match -q -- '--*' $before; or set long (printf '%s\n' $help | sed -nE "s/^ +$before, (--[a-z-]+).*/\1/p")
        set -l argument (test -n "$long"; and printf '%s\n' $help | sed -nE "s/^ +(-., )?$long=([^ ]*).*/\2/p")
        if test -n "$argument"
            test "$before $argument" = '-c NAME'; and set before --chip
            __counterworks_value $before "$argument" "$word"
            return
        end
    end
    if string match -q -- '-*' $word
        set -l options (__counterworks_help --help | sed -nE 's/^ +(-., )?(--[a-z][a-z-]*).*/\2/p')
        string match -q -- "$word*" $options; or set options (printf '%s\n' $help | sed -nE 's/^ +(-., )?(--[a-z][a-z-]*).*/\2/p')
        printf '%s\n' $options
        return
    end
    if test (count $words) -eq 1
        __counterworks_commands $help
    else if contains -- $words[2] describe explain
        __counterworks_value --metrics '' "$word"
    else if test $words[2] = sets
        metric-query complete sets "$word" 2>/dev/null
    else if test $words[2] = complete
        printf '%s\n' chips sets units metrics
    end
    __counterworks_files "$word"
end

for command in counterworks metric-query metric-config metric-eval metricdb-import capture-agent
    complete -c $command -f -a '(__counterworks_complete)'
end
