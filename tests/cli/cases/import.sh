# An import of what stands in the data folder changes nothing: that of one chip here, of the smallest with formulas of another.
# Only the names of the other chips that share the file are not known then.
command -v metricdb-import >/dev/null || exit 77
chips=$SOURCE/data/chips
metricdb-import --chip TU116 -F "$chips/gh100.yaml" -f "$chips/tu116.yaml" -o tu116.yaml 2>why.txt || {
    cat why.txt
    grep -q "not found\|no bridge" why.txt && exit 77
}
diff "$chips/tu116.yaml" tu116.yaml
metric-query lint --chip-file tu116.yaml | grep -c error
# both tables of limits are taken over, each with its classes
sed -e '/^  - pm_limits: /d' -e '/^$/{N;s/^\nlimits:/  pm_lts: {of: [lts_1]}\n&/}' -e 's/^  - limits: .*/&\n  - pm_limits: by hand/' tu116.yaml >pm.yaml
printf '\npm_limits:\n  - {max: 2, each: [pm_lts]}\n' >>pm.yaml
diff tu116.yaml pm.yaml | grep '^[<>]' | grep -v '^<   - pm_limits: '
metricdb-import --chip TU116 -F "$chips/gh100.yaml" -f pm.yaml -o both.yaml && cmp pm.yaml both.yaml
# what is wrong with the options
metricdb-import 2>&1 | head -1
metricdb-import --all --chip GH100 2>&1 | head -1
metricdb-import --all -e run.cd 2>&1 | head -1
metricdb-import --chip TU116 --learn -f x.yaml 2>&1 | head -1
metricdb-import --chip TU116 --learn=pc 2>&1 | head -1
metricdb-import --all --learn=pm 2>&1 | head -1
metricdb-import --all --mend 2>&1 | head -1
metricdb-import --chip TU116 --mend -o x.yaml
metricdb-import --chip GX100 -o x.yaml
metricdb-import --chip TU116 -f "$chips/gh100.yaml" -o x.yaml 2>&1 | sed "s|$SOURCE|SOURCE|"
ls
# the file of a chip takes the place of one
# whether the library is there is found out later
import() { metricdb-import --chip TU116 --library ./none -o chip.yaml "$@" 2>&1 | grep -o 'found a file that.*' || echo "import $*: as far as the library"; }
echo "int main(void) { return 0; }" >chip.yaml; import; import --force
cp "$SOURCE/data/chips/tu116.yaml" chip.yaml; import
