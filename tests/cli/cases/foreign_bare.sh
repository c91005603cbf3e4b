# A file of ncu that another program wrote anew, with quotes around few cells, and a line of the program with a quote.
cat >ncu.csv <<'END'
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__bytes_read.sum","gpu__time_duration.sum"
"","","","","","","","","","","","byte","ns"
"0",1,app,"n","a kernel",1,7,"(1, 1, 1)","(2, 1, 1)",0,9.0,4096,5000
"hello" world, says the program
"1",1,app,"n","a kernel",1,7,"(1, 1, 1)","(2, 1, 1)",0,9.0,,6000
END
metric-eval ncu.csv --by range -q --format csv -m dram__bytes_read.sum,gpu__time_duration.sum | cut -d, -f 1-5,8,16-
tr '\n' '\r' <ncu.csv | sed 's/\r/\r\n/g' >crlf.csv
metric-eval crlf.csv --by range -q --format csv -m gpu__time_duration.sum | cut -d, -f 1,2,16-
# A quote that a line of the program leaves open takes no launch with it.
for line in '"open' '"open, said it'; do
    awk -v line="$line" '/^"1"/ { print line } 1' ncu.csv >open.csv
    metric-eval open.csv --by range -q --format csv -m gpu__time_duration.sum | cut -d, -f 1,2,16- | tail -n +2
done
# A number with a comma and without quotes is no smaller number; empty cells at the end are none.
sed 's/,6000$/,6,000/' ncu.csv >comma.csv
metric-eval comma.csv --by range -q --format csv -m gpu__time_duration.sum; echo "status $?"
sed 's/,6000$/,"6,000",,/' ncu.csv >comma.csv
metric-eval comma.csv --by range -q --format csv -m gpu__time_duration.sum | cut -d, -f 1,2,16- | tail -n 1
