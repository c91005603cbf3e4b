# Real captures, one for each option: what they hold, and that every reader takes them.
for file in "$SOURCE"/data/captures/options/*.cwd; do
    metric-eval show "$file" | awk -v name="$(basename "$file" .cwd)" '
        /^(ranges|samples|records|dropped|windows|batches):/ && $2 != "0" { gsub(/: +/, " "); sub(/ in [0-9.]* records/, ""); held = held ", " $0 }
        /^  [a-z_]+: [0-9,]+ rows/ && !/account|launch_shape/ { sub(":", "", $1); rows = rows ", " $1 " " $2 }
        /^end:/ { sub(/^end: +/, ""); end = $0 }
        END { print name ": " substr(held rows, 3) "; " end }'
    metric-eval "$file" --format json -q -o rows.json && metric-eval "$file" -q -o rows.h5 || echo "$file: was not read"
done
echo == launches of the parts
for file in "$SOURCE"/data/captures/options/*.cwd; do
    case $file in
    */trace_*) metric-eval "$file" --kind kernel --csv - -q ;;
    *) metric-eval "$file" --csv - -q ;;
    esac 2>/dev/null | awk -v name="$(basename "$file" .cwd)" '
        { n["first"] += /first\(/; n["second"] += /second\(/; n["third"] += /third\(/ }
        END { if (n["first"] + n["second"] + n["third"]) print name, n["first"], n["second"], n["third"] }'
done
echo == shares of the time in calls, of which some are within others
metric-eval "$SOURCE/data/captures/options/trace_calls_2.cwd" --by call -q
