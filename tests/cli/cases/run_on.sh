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
sed -E "s,$here/there/tmp\.[A-Za-z0-9]*,FOLDER,g; s,$here,HERE,g; s,-C /[^ ]+,-C BIN,g" told
ls
[ "$(cat "it's here")" = "$here" ] && echo 'ran in the same folder'
echo '--- a file for each process'
mkdir of
counterworks run -q --on ssh:node --chip H100 -m sm__warps_active.avg -o 'of/%p.%%.cwd' -- true </dev/null >/dev/null; echo "exit $?"
ls of | sed -E 's/^[0-9]{2,}\.%\.(cwc|html)/OWN.%.\1/' | sort
echo '--- a variable has its value there'
NIGHT=here counterworks run -q --on ssh:node --trace -o 'of/job.%q{NIGHT}.cwd' -- true </dev/null >/dev/null; echo "exit $?"
ls of/job*
echo '--- nothing is left there'
ls -A there
echo '--- no such machine'
COUNTERWORKS_SSH=false counterworks run -q --on ssh:node --chip H100 -- true
echo "exit $?"
counterworks run --on ssh: -- true
echo "exit $?"
