# counterworks run --on: a capture on another machine, which is this one behind a real sshd.
sshd=$(PATH=$PATH:/usr/sbin:/sbin command -v sshd) || { echo 'sshd absent (openssh-server)'; exit 77; }
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
ssh-keygen -q -t ed25519 -N '' -f host_key && ssh-keygen -q -t ed25519 -N '' -f key && cp key.pub authorized || exit 77
here=$PWD
cat >sshd_config <<CONFIG
HostKey $here/host_key
AuthorizedKeysFile $here/authorized
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
SetEnv COUNTERWORKS_BACKEND=sim TMPDIR=$here/there
CONFIG
cat >ssh_config <<CONFIG
Host *
  ProxyCommand $sshd -i -f $here/sshd_config -E $here/sshd.log
  IdentityFile $here/key
  IdentitiesOnly yes
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
CONFIG
export COUNTERWORKS_SSH="ssh -F $here/ssh_config"
mkdir there
timeout 60 $COUNTERWORKS_SSH node true </dev/null >/dev/null 2>&1 || { echo 'sshd lets nobody in'; exit 77; }

echo '--- a capture'
cat >'a program.sh' <<'PROGRAM'
pwd >"$1"
exit 3
PROGRAM
counterworks run --on ssh:node --chip H100 -m sm__warps_active.avg -- sh 'a program.sh' "it's here" </dev/null 2>told | head -n 2
echo "exit ${PIPESTATUS[0]}"
sed -E "s,$here/there/tmp\.[A-Za-z0-9]*,FOLDER,g; s,$here,HERE,g; s,-C /[^ ]+,-C BIN,g; s,works-[A-Za-z0-9]{6},works-INBOX,g" told
ls
[ "$(cat "it's here")" = "$here" ] && echo 'ran in the same folder'
echo '--- a file for each process'
mkdir of
counterworks run -q --on ssh:node --chip H100 -m sm__warps_active.avg -o 'of/%p.%%.cwd' -- true </dev/null >/dev/null; echo "exit $?"
ls of | sed -E 's/^[0-9]{2,}\.%\.(cwc|html)/OWN.%.\1/' | sort
echo '--- a variable has its value there'
NIGHT=here counterworks run -q --on ssh:node --trace -o 'of/job.%q{NIGHT}.cwd' -- true </dev/null >/dev/null; echo "exit $?"
ls of/job*
echo '--- captures come from there, and no other file'
mkdir got got/.git; echo mine | tee got/.git/config got/notes.txt got/run.other.cwd >/dev/null
cat >hostile.sh <<'PROGRAM'
cd there/tmp.*/captures || exit
mkdir .git; echo yours | tee .git/config notes.txt run.other.cwd >/dev/null
ln -s /etc/passwd run.8.cwd; mkfifo run.9.cwd; mkdir run.7.cwd
cp "$1" run.77.cwd; chmod 6777 run.77.cwd
PROGRAM
counterworks run -q --on ssh:node --trace -o 'got/run.%p.cwd' -- sh hostile.sh "$here/of/job..cwd" </dev/null >/dev/null; echo "exit $?"
cat got/.git/config got/notes.txt got/run.other.cwd
find got -name run.77.cwd ! -perm /6000
ls -A got | sed -E 's/^run\.[0-9]{2,}\.html/run.OWN.html/' | sort
echo '--- a local file that is no capture stays'
echo mine >kept; ln -s kept linked.cwd; ln -s nowhere dangling.cwd; mkdir folder.cwd
for name in linked dangling folder; do
    counterworks run -q --on ssh:node --trace -o $name -- sh -c 'echo the program ran >ran' </dev/null 2>&1 | head -n 2
    echo "exit ${PIPESTATUS[0]}"
done
ls -A there
counterworks run -q --on ssh:node --trace -o became -- sh -c 'echo mine >became.cwd' </dev/null 2>told; echo "exit $?"
sed -E "s,$here/there/tmp\.[A-Za-z0-9]*,FOLDER,g" told; head -n 1 became.cwd; ls -A there/tmp.*/captures; rm -r there/tmp.*
ln -sf became.cwd linked.cwd
counterworks run -q --on ssh:node --trace --force -o linked -- true </dev/null >/dev/null; echo "exit $?"
[ -L linked.cwd ] && counterworks run -q --on ssh:node --trace -o linked -- true </dev/null | sed -n 1p
cat kept; ls -d ran linked* dangling* folder* 2>&1
echo '--- no capture'
counterworks run -q --on ssh:node --trace -o none -- sh -c 'rm there/tmp.*/captures/*; kill -9 $PPID' </dev/null 2>&1 | grep -v Killed; [ "${PIPESTATUS[0]}" = 0 ] || echo failed
echo '--- nothing is left there'
ls -A there
echo '--- a connection that breaks off'
cat >breaking <<PROGRAM
#!/bin/sh
case \$* in *'tar -cf'*) $COUNTERWORKS_SSH "\$@" | head -c 8192; exit 255 ;; esac
exec $COUNTERWORKS_SSH "\$@"
PROGRAM
chmod +x breaking
COUNTERWORKS_SSH=$here/breaking counterworks run -q --on ssh:node --trace -o broken -- true </dev/null 2>told; echo "exit $?"
sed -E "s,$here/there/tmp\.[A-Za-z0-9]*,FOLDER,g" told; ls -d broken* .counterworks* 2>&1; ls there/tmp.*/captures; rm -r there/tmp.*
echo '--- no such machine'
COUNTERWORKS_SSH=false counterworks run -q --on ssh:node --chip H100 -- true
echo "exit $?"
counterworks run --on ssh: -- true
echo "exit $?"
