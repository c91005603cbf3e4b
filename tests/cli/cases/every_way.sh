# tests/gpu/every_way with stand-ins for the compiler and the programs, on the simulated GPU: three launches of each, fewer
# than the faults want, and no user ranges. What is wrong is said, and is the exit status.
mkdir stand
cat >stand/program <<'END'
#!/bin/sh
echo right
case $1 in exit) exit 4 ;; kill) kill -9 $$ ;; trap) exit 5 ;; esac
exit 0
END
printf '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\ncp "%s/stand/program" "$2"\n' "$PWD" >stand/nvcc
printf '#!/bin/sh\nfor to; do case $to in */gemm | */nvtx) cp "%s/stand/program" "$to" ;; esac; done\n' "$PWD" >stand/make
printf '#!/bin/sh\necho GPU 0\n' >stand/nvidia-smi
chmod +x stand/*
PATH=$PWD/stand:$PATH COUNTERWORKS_BACKEND=sim "$SOURCE/tests/gpu/every_way" "$BIN" out gemm nvtx faults >printed
echo "exit $?"
sed -E 's/ +[0-9-]+ s / /; s/ +/ /g; s/ +$//; s/: capture-agent: .*//' printed
