# A line of standard error is one write, so that lines of several ranks do not mix.
cat >writes.py <<'EOF'
import socket, subprocess, sys
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=theirs).returncode
theirs.close()
writes = list(iter(lambda: ours.recv(65536), b""))
whole = sum(write.endswith(b"\n") for write in writes)
print(f"{sys.argv[1]}: status {status}, {len(writes)} writes, {whole} of whole lines")
EOF
python3 writes.py capture-agent trace --backend sim -o run.cwd -- true
python3 writes.py metric-eval missing.cwd
