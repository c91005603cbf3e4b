# tests/gpu/every_way with stand-ins for the compiler and the programs, on the simulated GPU: three launches of most programs,
# no user ranges, fewer launches than wanted before a trap, and a disk with room. What is wrong is said, and is the exit status.
mkdir stand
cat >stand/program <<'END'
#!/bin/sh
say() {
    for launch in 1 2 3 4 5 6; do echo launch a; done >${COUNTERWORKS_SIM:-/dev/null}
    if grep -qz '^trace$' /proc/$PPID/cmdline; then echo flush >>$COUNTERWORKS_SIM; fi
}
case $0 in
*faults) echo faults: six launches: right ;;
*)
    for launch in a b c; do echo launch $launch; done >${COUNTERWORKS_SIM:-/dev/null}
    echo right ;;
esac
case $1 in
exit) say; exit 4 ;;
kill) say; kill -9 $$ ;;
fork) say ;;
trap)
    for launch in a b c; do echo launch $launch; done >${COUNTERWORKS_SIM:-/dev/null}
    exit 5 ;;
orphan)
    say
    until metric-eval show faults.cwd 2>&1 | grep -qE '^(  kernel: [1-9].*|ranges: *6(, 6 of .*)?|samples: *192|batches: *6|records: *12)$'; do sleep 0.05; done
    kill -9 $PPID
    echo faults: six launches more: right ;;
esac
exit 0
END
printf '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\ncp "%s/stand/program" "$2"\n' "$PWD" >stand/nvcc
printf '#!/bin/sh\nfor to; do case $to in */gemm | */nvtx) cp "%s/stand/program" "$to" ;; esac; done\n' "$PWD" >stand/make
printf '#!/bin/sh\necho GPU 0\n' >stand/nvidia-smi
printf '#!/bin/sh\n' | tee stand/mount >stand/umount
chmod +x stand/*
PATH=$PWD/stand:$PATH COUNTERWORKS_BACKEND=sim "$SOURCE/tests/gpu/every_way" "$BIN" out gemm nvtx faults >printed
echo "exit $?"
sed -E 's/ +[0-9-]+ s / /; s/ +/ /g; s/ +$//; s/: capture-agent: .*//' printed
printf '#!/bin/sh\nfor k in 1 2 3 4 5; do echo push forward; echo launch _Z7forwardPKiPi; echo pop; echo launch _Z6updatePiPKi; done >${COUNTERWORKS_SIM:-/dev/null}\n' >stand/program
PATH=$PWD/stand:$PATH COUNTERWORKS_BACKEND=sim "$SOURCE/tests/gpu/every_way" "$BIN" some filters | sed -E 's/ +/ /g; s/ +$//'
PATH=$PWD/stand:$PATH COUNTERWORKS_BACKEND=sim WAYS='trace batch' "$SOURCE/tests/gpu/every_way" "$BIN" few gemm | sed -E 's/ +[0-9-]+ s / /; s/ +/ /g; s/ +$//'
