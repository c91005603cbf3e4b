# Every command of the documents runs as written, each document in a folder of its own:
#   ```sh         runs; no command may fail
#   ```console    runs; what follows a line with $ is what that command prints
#   ```sh node    needs a GPU, NVIDIA's library or minutes: programs, sub-commands and options have to exist
#   ```c          compiles
#   ```python     runs where xarray and h5netcdf are installed, if only for the system's own python3, and those with
#                 the package where its module was made
# A command has to stand in such a block. wrong.md shows that all this is found.
# ./run, cmake and ctest do nothing here: ./run test itself builds and tests.
mkdir data stand_in && ln -s "$SOURCE"/data/* data/
printf '#!/bin/sh\n' | tee stand_in/cmake >stand_in/ctest
cat >your_program <<'END'
#!/bin/sh
# three launches for the simulated GPU, in a user range; sampling over time takes no ranges
exec >"${COUNTERWORKS_SIM:-/dev/null}"
case $(tr '\0' '\n' <"/proc/$PPID/cmdline" | sed -n 2p) in pm) range=: ;; *) range=echo ;; esac
$range push step
for launch in 1 2 3; do echo launch gemm; done
$range pop
END
chmod +x your_program stand_in/*
root=$PWD PATH=$PWD/stand_in:$PATH

for python in python3 /usr/bin/python3 ''; do
    [ -z "$python" ] || ! "$python" -c 'import h5netcdf, xarray' 2>/dev/null || break
done

# The package of python.md, which is made where it is tested.
if [ -d "$BIN/../python" ]; then
    export PYTHONPATH=$BIN/../python COUNTERWORKS_LIBRARY=$BIN/../lib/libcounterworks.so PYTHONDONTWRITEBYTECODE=1
fi

options_of() { "$@" --help=all 2>&1 | grep -oE -- '--[a-z][a-z-]*'; }

check_node_command() { # WORD...
    local command=() word
    while [[ $1 = *=* || $1 = python3 || $1 = sudo ]]; do shift; done
    case $1 in
    build/*/tests/*) [ -x "$BIN/../tests/${1##*/}" ] || echo "no such program: $1"; return ;;
    */*) [ -e "$SOURCE/$1" ] || echo "no such file: $1"; return ;;
    metricdb-import | torchrun) command -v "$1" >/dev/null || return ;; # where CUDA's headers, or PyTorch, are
    metric-* | capture-agent | counterworks) ;;
    *) command -v "$1" >/dev/null || echo "no such command: $1"; return ;;
    esac
    command=("$1") && shift
    case ${1:--} in [a-z]*) command+=("$1") ;; esac
    for word; do
        [ "$word" != -- ] || return
        case $word in --?*) options_of "${command[@]}" | grep -qxF -e "${word%%=*}" || echo "no such option: ${command[*]} $word" ;; esac
    done
}

check_node() { # BLOCK
    while read -r line; do
        case $line in '' | '#'*) continue ;; esac
        # shellcheck disable=SC2086
        set -f && check_node_command $line && set +f
    done <<<"${1//$'\\\n'/}"
}

check_console() { # BLOCK
    local command='' expected=''
    while IFS= read -r line; do
        if [[ $line = '$ '* || $line = '$' ]]; then
            [ -z "$command" ] || diff <(printf %s "$expected") <(eval "$command" 2>&1) || echo "prints something else: $command"
            command=${line#\$ } expected=''
        else
            expected+=$line$'\n'
        fi
    done <<<"${1//$'\\\n'/}\$"
}

run_block() { # KIND BLOCK
    case $1 in
    sh) bash -euc 'trap '\''echo "exit $?: $BASH_COMMAND" >&3'\'" ERR; $2" 3>&1 >printed 2>&1 || tail -n 2 printed ;;
    'sh node') check_node "$2" ;;
    console) check_console "$2" ;;
    c) cc -fsyntax-only -Wall -Wextra -Werror -I "$SOURCE/include" -x c - <<<"$2" 2>/dev/null || echo "does not compile: ${2%%$'\n'*}" ;;
    python) { [ -z "$python" ] || { [[ $2 = *counterworks* ]] && [ ! -d "$BIN/../python" ]; }; } || "$python" - <<<"$2" >printed 2>&1 || tail -n 1 printed ;;
    esac
}

run_document() { # FILE
    local kind='' block='' line
    while IFS= read -r line; do
        case $line in
        '```') [ -z "$kind" ] || run_block "$kind" "$block"; kind='' ;;
        '```'*) kind=${line#'```'} block='' ;;
        '    '[a-z./]*) [ -n "$kind" ] || ! [[ $line =~ ^\ +(counterworks|metric-|metricdb-|capture-agent|\./run|cmake|ctest) ]] || echo "is not run: $line" ;;&
        *) block+=$line$'\n' ;;
        esac
    done <"$1"
}

cat >wrong.md <<'E2'
```sh
metric-query sets
metric-query list --chip GH100 --colour
```
```sh node
capture-agent doctor --cure
capture-agent range -c plan.cwc --kernel gemm -- your_program --size 4096
tests/bench/nothing.py
```
```console
$ metric-query chips | head -n 1 | cut -c 1-5
GH999
```
```c
#include <counterworks/nothing.h>
```
    metric-eval run.cwd
E2
for document in wrong.md "$SOURCE"/{README,CONTRIBUTING,docs/*,data/schema,data/captures/README,tests/fuzz/README}.md; do
    name=${document#"$SOURCE"/}
    mkdir -p "run/$name" && cd "run/$name" || exit
    cp "$root/your_program" . && cp "$root/stand_in/cmake" run && ln -s "$root/data" data
    run_document "$(cd "$root" && realpath "$document")" 2>&1 | sed "s|^|$name: |"
    cd "$root" || exit
done
words=$(wc -w <"$SOURCE/README.md")
[ "$words" -le 900 ] || echo "README.md: found $words words, expected at most 900"
