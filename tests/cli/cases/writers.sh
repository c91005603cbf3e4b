# Whatever prints text from a file, a name or a command line shows it, and nothing of it reaches the terminal: every writer
# prints for hostile text as many lines as for harmless text, and none of what tests/support/same_lines refuses. A writer
# is added by a line `writer NAME COMMAND`; in COMMAND $d is a folder of files that are full of the text, $t
# is the text, $f the name of a file and $w a word.
hostile=$'=\e]0;t\a\e[31m\r\n\t\b\x7f\xc2\x9b31m\xc2\x85\u202e\u2066\u2028,;\'"<&'
hostile_yaml='=\e]0;t\a\e[31m\r\n\t\b\x7f\x9b31m\x85\u202e\u2066\u2028,;'\''\"<&'
hostile_file=$'\e[31m\x9b\n\xff\xc2\x9b\xe2\x80\xae'
hostile_word=$'zz\e\x7f\xc2\x9b\u202e'

. "$SOURCE/tests/support/named_files.sh"
# the same module, with bytes in the name of its source file
sed 's/lines\.cu/\x1b[m\xff\x9b.cu/g' "$SOURCE/tests/support/lines.cubin" >hostile.cubin
mkdir hostile harmless printed
named_files hostile "$hostile" "$hostile_yaml" hostile.cubin
named_files harmless 'é name' 'é name' "$SOURCE/tests/support/lines.cubin"

count=0
# run FOLDER TEXT NAME-OF-A-FILE WORD COMMAND OUTPUT ERRORS
run() { # without a process but those of the command
    (d=$1 t=$2 f=$3 w=$4 CW_DATA_DIR=$PWD/$1/data; set +u; eval "$5") >"$6" 2>"$7" </dev/null
    status=$?
    for file in "$3" "$3.yaml" "$1"/data/*/"$3.yaml"; do
        [ ! -e "$file" ] || rm -f -- "$file"
    done
}
# writer NAME COMMAND
writer() {
    local wanted to
    count=$((count + 1)) to="printed/$count $1"
    run harmless 'é name' file word "$2" "$to.harmless" "$to errors.harmless"
    wanted=$status
    run hostile "$hostile" "$hostile_file" "$hostile_word" "$2" "$to.hostile" "$to errors.hostile"
    [ $status = $wanted ] || echo "$1: exit $status, expected $wanted: $(head -c 400 "$to errors.hostile" | cat -v)"
    [ -s "$to.hostile" ] || [ -s "$to errors.hostile" ] || echo "$1: printed nothing"
    # of what cannot be written one line is told
    if [ $wanted = 0 ] && [ -s "$to.harmless" ] && [ "${SANITIZED:-0}" = 0 ]; then
        run harmless 'é name' file word "$2" /dev/full full.err
        told=$(diff full.err "$to errors.harmless" | grep -c '^< .*: standard output: cannot write: No space left on device$')
        [ $status = 5 ] && [ "$told" = 1 ] || echo "$1 on a full device: exit $status, $(cat full.err)"
    fi
    case $1 in *json) cp "$to.hostile" "$to.json" ;; esac
}

# metric-eval
for capture in range pm pc sass; do
    writer "$capture table" "metric-eval \$d/$capture.cwd"
    writer "$capture csv" "metric-eval \$d/$capture.cwd --csv -"
    writer "$capture tidy csv" "metric-eval \$d/$capture.cwd --csv - --tidy"
    writer "$capture csv of 0.1" "metric-eval \$d/$capture.cwd --csv - --compat 0"
    writer "$capture json" "metric-eval \$d/$capture.cwd --json -"
    writer "$capture show" "metric-eval show \$d/$capture.cwd"
    writer "$capture report" "metric-eval \$d/$capture.cwd --report - --source-path \$d"
    writer "$capture hdf5" "metric-eval \$d/$capture.cwd -o \$d/x.h5"
    writer "$capture merge" "metric-eval merge \$d/$capture.cwd \$d/chip.cwd -o \$d/all.cwd; metric-eval show \$d/$capture.cwd"
done
writer "trace" 'metric-eval $d/trace.cwd && metric-eval $d/trace.cwd --by nvtx --wide'
writer "trace csv" 'metric-eval $d/trace.cwd --csv - --kind kernel && metric-eval $d/trace.cwd --csv - --by nvtx'
writer "trace json" 'metric-eval $d/trace.cwd --json -'
writer "trace report" 'metric-eval $d/trace.cwd --report -'
for by in kernel family range nvtx device rank; do
    writer "eval by $by" "metric-eval \$d/range.cwd --by $by"
    writer "eval by $by csv" "metric-eval \$d/range.cwd --by $by --csv -"
    writer "eval by $by json" "metric-eval \$d/range.cwd --by $by --json -"
done
writer "trace perfetto" 'metric-eval export $d/trace.cwd --perfetto $d/x.pftrace && "$SOURCE/tests/support/read_perfetto" $d/x.pftrace --list >&2'
writer "trace chrome json" 'metric-eval export $d/trace.cwd --format chrome'
writer "eval list" 'metric-eval $d/range.cwd --by range --filter "launches > 0" --sort name --top 1'
writer "eval list of a metric" 'metric-eval $d/range.cwd --metrics-db $d/name.yaml -m mine --by range --sort name'
writer "eval filter" 'metric-eval $d/range.cwd --filter "$t > 1"'
writer "eval sort" 'metric-eval $d/range.cwd --sort "$t"; metric-eval $d/range.cwd --by "$t"'
writer "eval kernel" 'metric-eval $d/range.cwd --kernel "nothing $t"'
for capture in pc sass; do
    writer "$capture source" 'printf "%s\n%s\n%s\n%s\n" "$t" "$t" "$t" "$t" | tee "$d/lines.cu" >"$d/$(printf "\033[m??.cu")"; metric-eval $d/'$capture'.cwd --source-path $d'
done
writer "eval all" 'metric-eval $d/range.cwd --all'
writer "eval own metric" 'metric-eval $d/range.cwd --metrics-db $d/mine.yaml -m mine'
writer "eval explain" 'metric-eval explain $d/range.cwd sm__throughput.avg.pct_of_peak_sustained_active'
writer "eval explain own metric" 'metric-eval explain $d/range.cwd mine --metrics-db $d/mine.yaml'
writer "eval own unit" 'metric-eval $d/range.cwd --metrics-db $d/unit.yaml -m mine'
writer "eval own name" 'metric-eval $d/range.cwd --metrics-db $d/name.yaml -m mine'
writer "eval own formula" 'metric-eval $d/range.cwd --metrics-db $d/formula.yaml -m mine'
writer "advise" 'metric-eval advise $d/range.cwd --rules $d/rules.yaml'
writer "advise json" 'metric-eval advise $d/range.cwd --rules $d/rules.yaml --format json'
for by in family range nvtx; do
    writer "advise by $by" "metric-eval advise \$d/range.cwd --rules \$d/rules.yaml --by $by"
    writer "advise by $by json" "metric-eval advise \$d/range.cwd --rules \$d/rules.yaml --by $by --format json"
done
writer "advise lacking" 'metric-eval advise $d/range.cwd --rules $d/rule.yaml'
writer "advise wrong rules" 'metric-eval advise $d/range.cwd --rules $d/mine.yaml'
writer "eval planned name" 'metric-eval $d/planned.cwd'
writer "eval chip" 'metric-eval $d/chip.cwd'
writer "eval chip show" 'metric-eval show $d/chip.cwd'
writer "eval metric" 'metric-eval $d/range.cwd -m "$t"'
writer "eval metrics file" 'metric-eval $d/range.cwd --metrics-file $d/list.txt'
writer "eval set" 'metric-eval $d/range.cwd --set "$t"'
writer "eval set with names" 'metric-eval $d/range.cwd --set shown'
writer "eval range" 'metric-eval $d/range.cwd --range "nothing $t"'
writer "eval range expression" 'metric-eval $d/range.cwd --range "[$t"'
writer "eval explain range" 'metric-eval explain $d/range.cwd sm__inst_executed.sum --range 1'
writer "eval check" 'metric-eval $d/range.cwd --check $d/check.json'
writer "eval differs" 'metric-eval $d/range.cwd --check $d/differs.json'
writer "eval no file" 'metric-eval "$f"'
writer "eval bad file" 'echo no capture >"$f"; metric-eval "$f"'
writer "eval file" 'cp $d/range.cwd "$f"; metric-eval "$f" && metric-eval show "$f"'
writer "eval file json" 'cp $d/range.cwd "$f"; metric-eval "$f" --json -'
writer "eval incomplete" 'head -c -30 $d/range.cwd >"$f"; metric-eval "$f"'
writer "eval no folder" 'metric-eval $d/range.cwd -o "$f/x.h5"; metric-eval $d/range.cwd --csv "$f/x"; metric-eval $d/range.cwd --json "$f/x"'
writer "eval chip file" 'metric-eval $d/range.cwd --chip-file $d/chip.yaml'
writer "eval number" 'metric-eval $d/range.cwd --top "$t"; metric-eval $d/range.cwd --frame-ns "$t"'
writer "eval argument" 'metric-eval a "$t" "$t"'
writer "eval option" 'metric-eval "--$f"; metric-eval "-$f"'
vary=$BIN/../tests/vary_capture
for format in text json; do
    writer "eval diff $format" "$vary \$d/more.cwd 1 same sm__inst_executed 3 0 \$d/range.cwd; metric-eval diff \$d/range.cwd \$d/more.cwd --all --format $format"
    writer "eval diff nvtx $format" "metric-eval diff \$d/range.cwd \$d/more.cwd --by nvtx --format $format"
done
for folder in hostile harmless; do for i in 2 3; do cp $folder/range.cwd $folder/range$i.cwd; done; done
writer "eval gate learn" 'metric-eval gate --learn $d/range.cwd $d/range2.cwd $d/range3.cwd --all -o -'
writer "eval gate summary" 'metric-eval gate --learn $d/range.cwd $d/range2.cwd $d/range3.cwd --all -o $d/gate.yaml --force'
writer "eval gate text" "metric-eval gate --learn \$d/range.cwd \$d/range2.cwd \$d/range3.cwd --all -o \$d/gate.yaml --force >rules.txt; $vary \$d/more.cwd 1 same sm__inst_executed 3 0 \$d/range.cwd; metric-eval gate \$d/range.cwd \$d/more.cwd --rules \$d/gate.yaml"
writer "eval gate json" 'metric-eval gate $d/range.cwd $d/more.cwd --rules $d/gate.yaml --format json'
writer "eval gate rules" 'metric-eval gate $d/range.cwd $d/range.cwd --rules $d/mine.yaml; metric-eval gate $d/range.cwd $d/range.cwd --rules "$f"; metric-eval gate $d/range.cwd $d/range.cwd --rules $d/name.yaml'
for format in csv folded ndjson prometheus speedscope; do
    writer "eval export to $format rows" "metric-eval export \$d/range.cwd --format $format"
done
for format in csv folded ndjson speedscope; do
    writer "eval export pc to $format rows" "metric-eval export \$d/pc.cwd --format $format"
done
writer "eval export format" 'metric-eval export $d/range.cwd --format "$t"; metric-eval export "$f" --format csv'

# metric-query
for format in text csv json; do
    writer "query list $format" "metric-query list --chip TINY --format $format"
    writer "query list all $format" "metric-query list --chip TINY --all-submetrics --metrics-db \$d/mine.yaml --format $format"
    writer "query units $format" "metric-query units --chip TINY --format $format"
    writer "query legacy $format" "metric-query legacy --chip TINY --format $format"
done
for format in text json; do
    writer "query describe $format" "metric-query describe --chip TINY sm__inst_executed sm__throughput --format $format"
    writer "query describe own $format" "metric-query describe --chip TINY mine --metrics-db \$d/mine.yaml --format $format"
    writer "query compare $format" "metric-query compare --chip TINY --chip-file \$d/data/chips/tiny.yaml --format $format"
done
writer "query legacy name" 'metric-query legacy --chip TINY old_name'
writer "query legacy unknown" 'metric-query legacy --chip TINY "$t"'
writer "query legacy hint" 'metric-config --chip TINY -m old_name -o $d/x.cwc'
writer "query search" 'metric-query list --chip TINY --search "$w"; metric-query list --chip TINY --search "[$t"'
writer "query unit" 'metric-query list --chip TINY --unit "$t"'
writer "query type" 'metric-query list --chip TINY --type "$t"'
writer "query format" 'metric-query list --chip TINY --format "$t"'
writer "query chip" 'metric-query list --chip "$t"'
writer "query chip file" 'metric-query list --chip-file "$f"; metric-query lint --chip-file $d/chip.yaml; metric-query lint --chip-file $d/key.yaml'
writer "query lint" 'cp $d/data/chips/tiny.yaml "$f.yaml"; metric-query lint --chip-file "$f.yaml"'
writer "query chips" 'cp $d/data/chips/tiny.yaml "$d/data/chips/$f.yaml"; metric-query chips'
writer "query sets" 'metric-query sets'
writer "query sets file" 'cp $d/data/sets/shown.yaml "$d/data/sets/$f.yaml"; metric-query sets; metric-query complete sets'
writer "query describe unknown" 'metric-query describe --chip TINY "$t"; metric-query describe --chip TINY "sm__inst_executed.$t"'
writer "query describe own file" 'cp $d/mine.yaml "$f"; metric-query describe --chip TINY mine --metrics-db "$f"'
writer "query complete" 'metric-query complete "$t"; metric-query complete a b "$t"; metric-query complete units --chip TINY'
writer "query compile" 'metric-query compile -o "$d/no/$f" $d/chip.yaml; metric-query compile -o /dev/null "$f"'
writer "query command" 'metric-query "$t"'
writer "query argument" 'metric-query units --chip TINY "$t"; metric-query chips "$t"'
writer "query option" 'metric-query list "--$f"'

# metric-config
for format in text json; do
    writer "config explain $format" "metric-config --chip TINY -m sm__inst_executed.sum,mine --metrics-db \$d/mine.yaml --no-native --explain --format $format"
done
writer "config metric" 'metric-config --chip TINY -m "$t" --explain'
writer "config set" 'metric-config --chip TINY --set shown --no-native --explain'
writer "config all" 'metric-config --chip TINY --all --metrics-db $d/mine.yaml --no-native --explain'
writer "config output" 'metric-config --chip TINY -m sm__inst_executed.sum --no-native -o "$f/x"'
writer "config library" 'metric-config --chip TINY -m sm__inst_executed.sum --native-library "$f" --explain'
writer "config values" 'for o in profiler max-passes prefer format chip chip-file; do metric-config --chip TINY --$o "$t" -m sm__inst_executed.sum --explain; done'
writer "config argument" 'metric-config --chip TINY "$t"'

# capture-agent
printf '#!/bin/sh\nexit $1\n' >harmless/program
cp harmless/program "hostile/program"
writer "agent range" 'capture-agent range -c $d/plan.cwc -o $d/out.cwd -- true; metric-eval show $d/out.cwd'
writer "agent application" 'capture-agent range -c $d/plan.cwc -o $d/out.cwd --replay application -- true; metric-eval show $d/out.cwd'
writer "agent pm" 'capture-agent pm -c $d/pm.cwc -o $d/out.cwd --duration 10min'
writer "agent wrong plan" 'capture-agent pm -c $d/plan.cwc -o $d/out.cwd; capture-agent range -c $d/pm.cwc -o $d/out.cwd -- true'
writer "agent program" 'capture-agent range -c $d/plan.cwc -o $d/out.cwd -- "./$f"'
writer "agent status" 'printf "#!/bin/sh\nexit 3\n" >"$d/$f"; chmod +x "$d/$f"; capture-agent range -c $d/plan.cwc -o "$d/$f.cwd" -- "$d/$f"'
writer "agent killed" 'printf "#!/bin/sh\nkill -9 \$\$\n" >"$d/$f"; chmod +x "$d/$f"; capture-agent range -c $d/plan.cwc -o "$d/$f.cwd" -- "$d/$f"'
writer "agent output" 'capture-agent range -c $d/plan.cwc -o "$f/x" -- true; capture-agent range -c $d/plan.cwc -o "%q{$t" -- true; capture-agent range -c $d/plan.cwc -o "%$t" -- true'
writer "agent plan" 'capture-agent range -c "$f" -o $d/out.cwd -- true; capture-agent decode "$f" -c $d/plan.cwc -o $d/x'
writer "agent filter" 'capture-agent range -c $d/plan.cwc -o $d/out.cwd --kernel "[$t" -- true'
writer "agent values" 'for o in replay device backend scope launch-skip levels ranges follow-children sim-seed; do capture-agent range -c $d/plan.cwc -o $d/out.cwd --$o "$t" -- true; done'
writer "agent pm values" 'for o in interval duration window every device backend buffer; do capture-agent pm -c $d/pm.cwc -o $d/out.cwd --$o "$t" -- true; done'
writer "agent pc values" 'for o in period mode device backend buffer code; do capture-agent pc -o $d/out.cwd --$o "$t" -- true; done'
writer "agent sass values" 'for o in metrics device backend code; do capture-agent sass -m smsp__sass_inst_executed -o $d/out.cwd --$o "$t" -- true; done'
writer "agent trace" 'capture-agent trace -o $d/out.cwd -t all -- "./$f" 3; metric-eval show $d/out.cwd'
writer "agent trace events" 'printf "#!/bin/sh\nexec >\$COUNTERWORKS_SIM\nprintf \"process 5 %%s %%s\\npush %%s\\nlaunch %%s\\npop\\n\" \"\$1\" \"\$1\" \"\$1\" \"\$1\"\n" >$d/says; chmod +x $d/says; capture-agent trace -o $d/out.cwd -- $d/says "$w"; metric-eval show $d/out.cwd'
writer "agent trace json" 'capture-agent trace -o $d/out.cwd -- $d/says "$w"; metric-eval show --format json $d/out.cwd'
writer "agent trace mistake" 'capture-agent trace -o $d/out.cwd -- $d/says "$w
$w"'
writer "agent trace values" 'for o in kinds delay duration window every environment flush buffer buffers graphs backend range kernel process device; do capture-agent trace -o $d/out.cwd --$o "$t" -- true; done'
writer "agent command" 'capture-agent "$t"'
writer "agent option" 'capture-agent range "--$f"'
"$SOURCE/tests/support/same_lines" printed
echo "$count writers"
