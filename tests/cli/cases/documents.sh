# Every command in a sh block of README.md and CONTRIBUTING.md runs as written, in a copy of what it needs. The ones that
# build and test are run by ./run test itself.
mkdir data && cp -r "$SOURCE"/data/captures data/
printf '#!/bin/sh\nexit 0\n' >your_program && chmod +x your_program
for document in README.md CONTRIBUTING.md data/captures/README.md; do
    awk '/^```sh$/ {on = 1; next} /^```$/ {on = 0} on' "$SOURCE/$document" |
        while IFS= read -r command; do
            case $command in
            ./run*|cmake*|ctest*) continue ;;
            metricdb-import*)
                command -v metricdb-import >/dev/null && metricdb-import --chip TU116 -o /dev/null 2>/dev/null || continue ;;
            esac
            (eval "$command") >printed 2>&1 || { echo "$document: $command: exit $?"; cat printed; }
        done
done
ls -- *.cwc *.cwd *.h5 *.csv *.json | sed -E 's/^run\..*\.[0-9]+\.cwd/run.HOST.PROCESS.cwd/'
