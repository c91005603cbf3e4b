#!/usr/bin/env bash
# Builds every fuzz target for OSS-Fuzz (libFuzzer): $SRC/counterworks is the project, $CC, $CFLAGS, $LIB_FUZZING_ENGINE,
# $WORK and $OUT are as OSS-Fuzz sets them. Its image needs the packages of packages_build and packages_test in ./run.
# $OUT gets fuzz_NAME, its seeds and options, and the libraries and data that the targets use.
set -eu
project=$SRC/counterworks build=$WORK/counterworks
# the budget of an input allows for sanitizers where CW_SANITIZE is defined
cmake -S "$project" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS="$CFLAGS -DCW_SANITIZE" \
    -DCMAKE_EXE_LINKER_FLAGS="-Wl,-rpath,'\$ORIGIN/lib'" -DCW_FUZZ=ON -DCW_FUZZ_ENGINE="$LIB_FUZZING_ENGINE" \
    -DCW_WERROR=OFF -DCW_MPI=OFF
ninja -C "$build" fuzz_targets
mapfile -t targets < <(find "$build/tests" -maxdepth 1 -type f -name 'fuzz_*' -printf '%f\n' | sort)
mkdir -p "$OUT/lib"
cp -r "$project/data" "$OUT/data"
rm -rf "$OUT/data/captures"
for target in "${targets[@]}"; do
    cp "$build/tests/$target" "$OUT"
    (cd "$project/tests/fuzz/corpus/${target#fuzz_}" && python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" .)
    python3 "$project/tests/fuzz/run_fuzz" --options "$target" >"$OUT/$target.options"
done
# HDF5 and SQLite are loaded when they are needed
loaded=$(ldconfig -p | sed -nE 's/.* => (.*\/(libhdf5_serial(_hl)?|libsqlite3)\.so\.[0-9]+)$/\1/p')
# shellcheck disable=SC2086
{ ldd "$OUT"/fuzz_* $loaded 2>/dev/null | sed -nE 's/.* => (\/[^ ]+) .*/\1/p'; printf '%s\n' $loaded; } | sort -u |
    grep -vE '/lib(c|m|pthread|dl|rt|resolv|gcc_s|stdc\+\+)\.so' | xargs -r cp -t "$OUT/lib"
