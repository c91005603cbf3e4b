# Every option with its argument and every sub-command of --help stands in the manual page, each where it belongs, and
# the other way round: of --help=all, for --help has at most 25. No words stand far behind a long argument.
help_options() {
    local count
    count=$("$@" --help | grep -cE '^ {2,6}(-[A-Za-z?], )?--[a-z]')
    [ "$count" -le 25 ] || echo "$* --help: found $count options, expected at most 25" >&2
    "$@" --help=all | grep -E '.{80}  [^ ]' >&2
    "$@" --help=all | sed -nE 's/^ {2,6}(-[A-Za-z?], )?(--[a-z][a-z-]*(\[?=[^ ]+)?).*/\1\2/p' | sort
}
help_commands() { "$1" --help=all | sed -nE 's/^  ([a-z][a-z-]*)  +.*/\1/p'; }
# the options under a heading of a page
page_options() {
    awk -v heading="$2" '
        /^\.S[HS] / { on = $0 == heading; next }
        on && item && /^\\fB/ { gsub(/\\f[BRI]/, ""); gsub(/\\-/, "-"); print }
        { item = /^\.TP/ }' "$SOURCE/man/$1.1" | sort
}
page_commands() { sed -n 's/^\.SS //p' "$SOURCE/man/$1.1" | sed 's/\\-/-/g'; }
for command in metric-query metric-eval capture-agent; do
    diff <(help_commands $command) <(page_commands $command) || echo "$command.1: other commands than $command --help tells"
    for sub in $(help_commands $command); do
        diff <(help_options $command "$sub" | grep -vxE -e '-\?, --help\[=all\]|--usage|-V, --version') <(page_options $command ".SS $sub") ||
            echo "$command.1: other options than $command $sub --help tells"
    done
    echo "$command"
done
for command in metric-config metric-eval metric-eval-mpi metricdb-import; do
    command -v $command >/dev/null || { echo $command; continue; } # metricdb-import needs CUDA's headers, metric-eval-mpi MPI
    diff <(help_options $command) <(page_options $command ".SH OPTIONS") || echo "$command.1: other options than $command --help tells"
    echo $command
done
command -v groff >/dev/null || exit 0
for page in "$SOURCE"/man/*.1; do groff -man -ww -z "$page"; done
