# No line of --help is wider than a terminal of 80 columns, or has blanks alone.
subs() { sed -nE -e 's/^  ([a-z][a-z-]*)  +.*/\1/p' -e 's/^([A-Z][a-z]+ +| {10})([a-z]+)  +.*/\2/p' -e 's/^  or:.*\[OPTION\.\.\.\] ([a-z]+) .*/\1/p'; }
wide() { awk -v command="$*" 'length > 79 || /^ +$/ { print command ": " $0 } END { exit !NR }' || echo "$*: no help"; }
count=0
for command in counterworks capture-agent metric-eval metric-query metric-config metricdb-import; do
    $command --help=all | wide "$command"
    for sub in $($command --help=all | subs); do
        count=$((count + 1))
        $command "$sub" --help=all | wide "$command" "$sub"
    done
done
[ $count -gt 50 ] && echo helps of more than 50 commands
