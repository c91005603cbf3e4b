# counterworks run: plan, capture, kernels and page in one command.
cat >'my train.py' <<'PROGRAM'
PROGRAM
echo '--- the counters of advice'
counterworks run --chip H100 -- python3 'my train.py' 2>&1 | sed -E 's/  +/  /g; s/  -+//g' | head -n 10
ls
echo '--- metrics'
counterworks run -q --chip H100 -m sm__warps_active.avg,gpu__time_duration.sum -o of/metrics -- true
mkdir of
counterworks run -q --chip H100 -m sm__warps_active.avg,gpu__time_duration.sum -o of/metrics.cwd -- true | sed -n 4,6p
ls of
echo '--- a trace'
counterworks run -q --trace -o trace -- true 2>&1 | sed -n '2,3p'
ls trace*
echo '--- the program is the one that PATH has first, and finds PATH as it is'
mkdir first; printf '#!/bin/sh\n[ "$PATH" = "$EXPECTED" ] && echo first in PATH\n' >first/metric-query; chmod +x first/metric-query
(export PATH=$PWD/first:$PATH; EXPECTED=$PATH counterworks run -q --trace -o path -- metric-query 2>/dev/null | head -n 1)
env -u PATH "$(command -v counterworks)" run -q --trace -o path -- true >/dev/null 2>&1; echo "exit $?"
echo '--- a signal that is ignored stays ignored, as under nohup'
for signal in HUP TERM INT QUIT; do
    (trap '' $signal; counterworks run -q --trace -o kept -- sh -c "kill -$signal \$\$; echo goes on after $signal" 2>&1 | grep -E 'goes on|killed')
done
echo '--- a name that begins like an option'
printf '#!/bin/sh\n' >-p.sh; chmod +x ./-p.sh; counterworks run -q --chip H100 -- ./-p.sh >/dev/null 2>&1; ls ./-p*
echo '--- the name of a program is no pattern'
mkdir names; cd names
for name in 'a%pb' '50%' 'x*[1]'; do
    ln -s /bin/true "$name"; counterworks run --chip H100 -m sm__warps_active.avg -- "./$name" 2>&1 >/dev/null; echo "exit $?"
done
ls
echo '--- a given name is one for capture-agent: a file for each process, and one page'
counterworks run --chip H100 -m sm__warps_active.avg -o 'of.%p.%r%%.cwd' -- true 2>&1 >/dev/null | sed -E 's/of\.[0-9]{2,}\.none%\.(cwc|html)/of.OWN.none%.\1/g'
touch -d yesterday of.1.none%.cwd
counterworks run -q --chip H100 -m sm__warps_active.avg -o 'of.%p.%r%%.cwd' -- true >/dev/null; echo "exit $?"
ls | grep -c 'of.*\.html'
counterworks run -q --trace -o 'x%%y%q{NONE}.cwd' -- true >/dev/null; ls x%*
counterworks run --chip H100 -o 'x%y.cwd' -- true; echo "exit $?"
echo '--- a suffix ends the name of the file, not that of a variable'
counterworks run -q --trace -o 'var.%q{A.B}' -- true >/dev/null 2>&1; echo "exit $?"
counterworks run -q --trace -o 'var.%q{A.B}.x.cwd' -- true >/dev/null 2>&1; echo "exit $?"
ls var*
echo '--- a file that another job writes meanwhile is none of the run'
mkdir jobs
for name in %p %r; do
    counterworks run -q --trace -o "jobs/$name.cwd" -- sh -c 'for i in other 7x none7 n; do echo none >jobs/$i.cwd; done' 2>&1 >/dev/null | grep -v recorded
    echo "exit ${PIPESTATUS[0]}"
done
ls jobs | sed -E 's/^[0-9]{2,}\.html/OWN.html/' | sort
cd ..
echo '--- a printed command does the same'
printf '#!/bin/sh\nprintf "<%%s>" "$@" >>words; echo >>words\n' >show.sh; chmod +x show.sh
counterworks run --chip H100 -m sm__warps_active.avg -o same -- ./show.sh $'n\nl' $'it\'s \\n' $'\e]\377' '' '$x `y`' 2>told >/dev/null
grep -o -- '-- ./show.sh.*' told
eval "$(sed -n 's/^\$ \(counterworks capture\)/\1/p' told)" 2>/dev/null
[ "$(head -n 2 words)" = "$(tail -n 2 words)" ] && [ "$(wc -l <words)" = 4 ] && echo 'the same words'
echo '--- a program that fails leaves its capture'
counterworks run -q --chip H100 -o failed -- sh -c 'exit 5' | head -n 1
echo "exit ${PIPESTATUS[0]}"
echo '--- a program that is killed'
counterworks run -q --chip H100 -o killed -- sh -c 'kill $$' | head -n 1
echo "exit ${PIPESTATUS[0]}"
echo '--- mistakes'
counterworks run --chip H100
counterworks run --trace -m sm__warps_active.avg -- true
counterworks run --chip H1000 -o no -- true
echo "exit $?"
ls no* 2>&1
counterworks run --steady 0 -- true
echo "exit $?"
counterworks run --steady 2 -- true 2>&1 | head -n 1
counterworks run --steady 2 --whole -- true 2>&1 | head -n 1
echo '--- no GPU: a simulated one is planned for, and a real one is missed'
counterworks run -o simulated -- true 2>&1 | sed -n '1p;$p' | cut -c 1-60
COUNTERWORKS_BACKEND=cupti counterworks run -o no -- true 2>&1 | sed 's/:.*//'
echo '--- the signal of the end is passed on'
counterworks run -q --chip H100 -o ended -- sh -c 'trap "echo the program was told; exit 0" TERM; echo >ready; sleep 60 & wait' >told 2>&1 &
for _ in $(seq 600); do [ -e ready ] && break || sleep 0.1; done
kill $!
wait $!
grep program told
