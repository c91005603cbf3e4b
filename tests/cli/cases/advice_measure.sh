# tests/advice/measure with a stand-in for the compiler and the cases, on the simulated GPU: what it captures, and that it says
# what fails.
mkdir stand
cat >stand/program <<'END'
#!/bin/sh
case $1 in
--times) printf 'k01\t1.0\t2.0\tdifferent\n'; echo 'advice: k01a and k01b differ' >&2; exit 1 ;;
esac
for kernel in fill k01a k01b add_up; do echo "launch $kernel"; done >"$COUNTERWORKS_SIM"
END
printf '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\ncp "%s/stand/program" "$2"\n' "$PWD" >stand/nvcc
printf '#!/bin/sh\necho no GPU >&2\nexit 3\n' >stand/ncu
chmod +x stand/*
PATH=$PWD/stand:$PATH "$SOURCE/tests/advice/measure" "$BIN" out >printed
echo "exit $?"
sed -E 's/ +[0-9]+ s$/ done/' printed
cat out/times.tsv
metric-eval show out/range.cwd | grep -E '^ranges:'
metric-eval show out/pc.cwd | grep -E '^end:'
