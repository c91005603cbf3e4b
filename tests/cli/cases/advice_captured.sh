# What an H200 and an H100 said of the kernels with known faults: every kernel has a range with all metrics, and the fault
# costs time.
advice=$SOURCE/tests/advice
captured() { # CAPTURE: the kernels of it
    metric-eval "$advice/$1" -m gpu__time_duration.sum --tidy --csv - | sed -n 's/.*,_Z[45]\(k[0-9]*[ab]\).*,ok$/\1/p' | sort
}
timed() { # TABLE LAST: the kernels that were timed, up to a case
    awk -F'\t' -v last="$2" 'substr($1, 2) + 0 > last { next } $2 != "" { print $1 "a" } $3 != "" { print $1 "b" }' "$advice/$1" | sort
}
same() { # CAPTURE TABLE LAST
    timed "$2" "$3" >timed
    captured "$1" | diff timed - && wc -l <timed
}
same h200.cwd h200.tsv 53
same h200_advice.cwd h200.tsv 83
same h100_advice.cwd h100.tsv 107
metric-eval "$advice/h200.cwd" --tidy --csv - | grep -c ',ok$'
cut -f 4 "$advice/h200.tsv" "$advice/h100.tsv" | sort | uniq -c | sed 's/^ *//'
# how many times faster the twin without the fault is
sort "$advice/cases.tsv" >cases
sort "$advice/h200.tsv" "$advice/h100.tsv" | join -t "$(printf '\t')" cases - | awk -F'\t' '$3 == "a" { gain = $6 / $7 } $3 == "b" { gain = $7 / $6 }
    $3 ~ /^[ab]$/ && gain < 1.05 { print $1, $2, gain } $3 ~ /^[ab]$/ { n += gain > 1.15 } END { print n " cost more than 15 %" }'
