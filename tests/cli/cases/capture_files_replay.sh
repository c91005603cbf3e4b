# A file for each process or rank, where not every run, device and launch is alike: application replay joins what is the same
# GPU, whoever numbers it, and what was not collected is in the file of its process.
metric-config --chip GH100 --no-native -m sm__inst_executed.sum,dram__bytes_read.sum,lts__t_sector_hit_rate.pct,gpu__time_duration.sum \
    -o plan.cwc
held() { metric-eval show "$1" 2>&1 | grep -E '^(ranges|dropped|end)' | tr -s ' ' | paste -sd';'; }

echo == two ranks that see a GPU each, as their number 0
cat >two <<'END'
exec >$COUNTERWORKS_SIM
echo process 21 worker 0; echo device 0 0000:07:00.0; echo launch a
echo process 22 worker 1; echo device 0 0000:06:00.0; echo launch b
END
capture-agent range -c plan.cwc -o rank.%r.cwd --replay application -- sh two
capture-agent range -c plan.cwc -o one.cwd --replay application -- sh two
metric-eval merge rank.0.cwd rank.1.cwd -o all.cwd
values() { metric-eval "$1" --tidy --csv - | columns name,metric,unit,value,status | sort; }
values one.cwd | head -n 3
values all.cwd | cmp - <(values one.cwd) && echo the same values
metric-eval show all.cwd | grep -E '^device|pci'

echo == the first run launches nothing
for name in late.cwd late.%p.cwd; do
    capture-agent range -c plan.cwc -o $name --replay application -- \
        sh -c 'exec >$COUNTERWORKS_SIM; [ $COUNTERWORKS_SIM_RUN = 0 ] && echo device 0 || echo launch a'
    echo "status $?"
done

echo == what was not collected
cat >graphs <<'END'
exec >$COUNTERWORKS_SIM
echo process 11 w 0; echo launch a; echo graph 3 host nodes
echo process 12 w 1; echo launch b; echo graph 5 alloc; echo graph 5 alloc
echo process 13 w 2; echo graph 5 alloc
END
capture-agent range -c plan.cwc -o run.%p.cwd -- sh graphs
metric-eval merge run.1?.cwd -o run.cwd
for file in run.11.cwd run.12.cwd run.13.cwd run.cwd; do held $file; done
