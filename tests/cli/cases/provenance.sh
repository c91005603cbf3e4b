# What a capture tells about its machine and program, and the same without the private part. check_redact searches the
# bytes; docs/privacy.md has signatures.
captures=$SOURCE/data/captures
metric-eval show --provenance "$captures/pc_gemm.cwd"
echo == as JSON
metric-eval show --provenance --format json "$captures/trace_openacc.cwd" -o facts.json
python3 -c '
import json
for fact in json.load(open("facts.json"))["provenance"][:12]:
    print(fact["chunk"], fact["fact"], fact["redacted"], *fact["values"][:3])'
echo == redacted
metric-eval merge --redact "$captures/trace_openacc.cwd" -o shared.cwd
metric-eval show --provenance shared.cwd | head -8
metric-eval merge --redact "$captures/pc_gemm.cwd" -o shared.cwd && ls
metric-eval merge --redact "$captures/pc_gemm.cwd" -o instructions.cwd && metric-eval instructions.cwd --top 2
echo == a part of a capture
head -c 30000 "$captures/gemm.cwd" >part.cwd
metric-eval show --provenance part.cwd | head -3; metric-eval merge --redact part.cwd -o shared_part.cwd
echo == a signature, which another byte breaks
cp "$captures/gemm.cwd" run.cwd && ssh-keygen -q -t ed25519 -N '' -f key && ssh-keygen -q -Y sign -f key -n counterworks run.cwd
echo "alice@example.org $(cat key.pub)" >signers
verify() { ssh-keygen -q -Y verify -f signers -I alice@example.org -n counterworks -s run.cwd.sig <"$1" >/dev/null 2>&1; }
verify run.cwd && echo good; printf x >>run.cwd; verify run.cwd || echo bad
