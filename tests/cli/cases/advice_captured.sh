# What an H200 said of the kernels with known faults: every kernel has a range with all metrics, and the fault costs time.
advice=$SOURCE/tests/advice
metric-eval "$advice/h200.cwd" -m gpu__time_duration.sum --csv - | sed -n 's/.*,_Z4\(k[0-9][0-9][ab]\).*,ok$/\1/p' | sort >captured
kernels() { # WHICH: of the cases that were timed
    awk -F'\t' "$1"' && $2 != "" { print $1 "a" } '"$1"' && $3 != "" { print $1 "b" }' "$advice/h200.tsv" | sort
}
kernels '$1 <= "k53"' | diff - captured && wc -l <captured
metric-eval "$advice/h200_advice.cwd" -m gpu__time_duration.sum --csv - | sed -n 's/.*,_Z4\(k[0-9][0-9][ab]\).*,ok$/\1/p' | sort >all
kernels 1 | diff - all && wc -l <all
metric-eval "$advice/h200.cwd" --csv - | grep -c ',ok$'
cut -f 4 "$advice/h200.tsv" | sort | uniq -c | sed 's/^ *//'
# how many times faster the twin without the fault is
join -t "$(printf '\t')" "$advice/cases.tsv" "$advice/h200.tsv" | awk -F'\t' '$3 == "a" { gain = $6 / $7 } $3 == "b" { gain = $7 / $6 }
    $3 ~ /^[ab]$/ && gain < 1.05 { print $1, $2, gain } $3 ~ /^[ab]$/ { n += gain > 1.15 } END { print n " cost more than 15 %" }'
