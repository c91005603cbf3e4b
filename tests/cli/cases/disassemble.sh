# Instructions with their text by nvdisasm. A script stands in for it: it prints what it was given, in the form of
# nvdisasm -c for a kernel with a function behind it.
mkdir bin
cat >bin/nvdisasm <<'END'
#!/bin/sh
[ "$1 $2" = "-c -fun" ] && [ "$(head -c 4 "$4" | tail -c 3)" = ELF ] || { echo "found no module: $*" >&2; exit 1; }
python3 - <<'E2'
print("\t.headerflags\t@\"EF_CUDA_SM90\"\n//---- .text._Z4gemmPKfS0_Pf ----\n\t.section\t.text._Z4gemmPKfS0_Pf,\"ax\",@progbits")
print("        .global         _Z4gemmPKfS0_Pf\n_Z4gemmPKfS0_Pf:\n.text._Z4gemmPKfS0_Pf:")
for at in range(0, 0xe90, 16):
    print(f"        /*{at:04x}*/                   FFMA R{at // 16 % 8}, R2, R3, R4 ;")
print(".L_x_1:\n        /*0e90*/              @!P0 LDG.E.CONSTANT R4, desc[UR4][R2.64] ;")
print("        /*0ea0*/                   BRA `(.L_x_1);\n        .size x\n.L_x_2:\n_Z5otherv:\n        /*0ec0*/                   EXIT ;")
E2
END
chmod +x bin/nvdisasm
plain=$PATH
export PATH=$PWD/bin:$PATH
unset CUDA_HOME CW_NVDISASM
pc=$SOURCE/data/captures/pc_gemm.cwd sass=$SOURCE/data/captures/sass_gemm.cwd
echo == a list
metric-eval "$pc" --disassemble --top 6 | tail -n 17
metric-eval "$sass" --disassemble --top 2 | tail -n 9
echo == files
metric-eval "$pc" --csv - --disassemble | head -n 3
metric-eval "$pc" --csv - | head -n 1
# each of the 538 lines of PTX is the one that nvdisasm -gp of CUDA 13.0 names
metric-eval "$pc" --csv - --disassemble | python3 -c '
import csv, hashlib, sys
lines = sorted({(int(r["offset"]), int(r["ptx_line"])) for r in csv.DictReader(sys.stdin)})
print(len(lines), hashlib.sha256(repr(lines).encode()).hexdigest()[:16])'
metric-eval "$SOURCE/data/captures/pc_contexts.cwd" --csv - --disassemble 2>/dev/null | cut -d, -f 14- | sort -u # code without PTX
metric-eval "$pc" --json - --disassemble | grep -c '"instruction": "@!P0 LDG.E.CONSTANT R4, desc\[UR4\]\[R2.64\]"'
metric-eval "$sass" -q --disassemble -o sass.h5 && h5dump -d /sass/instruction sass.h5 | grep -o '"FFMA R1, R2, R3, R4"' | sort -u
echo == a page
metric-eval report "$SOURCE/data/captures/gemm.cwd" --with "$pc" --with "$sass" --disassemble -o page.html
grep -c '"offset":3728,"text":"@!P0 LDG.E.CONSTANT R4, desc\[UR4\]\[R2.64\]","ptx":"st.shared.f32 \[%r218\], %f60;"' page.html
metric-eval report "$pc" -o plain.html; grep -c '"offset":' plain.html
metric-eval report "$SOURCE/data/captures/gemm.cwd" --disassemble -o none.html 2>&1 | sed "s,$SOURCE,.,"
echo == a program of another name
mv bin/nvdisasm other
CW_NVDISASM=$PWD/other metric-eval "$pc" --disassemble --top 1 | sed '1,/offset/d' | head -n 2
CW_NVDISASM=none metric-eval "$pc" --disassemble; echo "exit $?"
[ -e /usr/local/cuda/bin/nvdisasm ] || { PATH=$plain metric-eval "$pc" --disassemble; echo "exit $?"; } 2>&1 | tail -n 1
echo == one that fails, hangs, or answers with something else
for answer in 'exit 3' 'kill -9 $$' 'echo; head -c 100000 /dev/urandom' 'echo "_Z4gemmPKfS0_Pf:"; echo "  /*zz*/ NOP;"; echo "/*10*/;"'; do
    printf '#!/bin/sh\n%s\n' "$answer" >bin/nvdisasm; chmod +x bin/nvdisasm
    metric-eval "$pc" --disassemble --top 1 2>&1 | sed '1,/offset/d; /^$/,$d' | sed "s,$PWD,.,"
    metric-eval "$pc" --disassemble --top 1 2>&1 >/dev/null | sed "s,$SOURCE,.,; s,$PWD,.,"
done
echo == text that a terminal obeys
printf '#!/bin/sh\nprintf "_Z4gemmPKfS0_Pf:\\n/*0000*/ NOP;\\n/*0e90*/ \\033[31mNOP ;\\n"\n' >bin/nvdisasm
metric-eval "$pc" --disassemble --top 1 | grep -a NOP | cat -v
echo == other captures
metric-eval "$SOURCE/data/captures/gemm.cwd" --disassemble 2>&1 | sed "s,$SOURCE,.,"
metric-eval "$SOURCE/data/captures/trace_train.cwd" --disassemble 2>&1 | sed "s,$SOURCE,.,"
echo == machine code
metric-eval export "$pc" --cubin code; metric-eval export "$sass" --cubin code -q
ls code; head -c 4 code/865145795.cubin | tail -c 3; echo
metric-eval export "$SOURCE/data/captures/gemm.cwd" --cubin elsewhere 2>&1 | sed "s,$SOURCE,.,"; ls -d elsewhere 2>&1
echo mine >code/865145795.cubin; metric-eval export "$pc" --cubin code; metric-eval export "$pc" --cubin none/code; metric-eval export --cubin code
