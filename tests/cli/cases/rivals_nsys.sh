# Databases of nsys beside the one of tests/foreign.
echo == copies from GPU to GPU name both of them
{ cat "$SOURCE/tests/foreign/nsys.sql"; echo "ALTER TABLE CUPTI_ACTIVITY_KIND_MEMCPY ADD srcDeviceId INTEGER; ALTER TABLE CUPTI_ACTIVITY_KIND_MEMCPY ADD dstDeviceId INTEGER;
UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = 10, dstKind = 2, srcDeviceId = 0, dstDeviceId = 1;"; } | sqlite3 peer.sqlite
metric-eval peer.sqlite -q --kind copy --csv -
echo == ranges without an end are open until the trace ends
{ cat "$SOURCE/tests/foreign/nsys.sql"; echo "DELETE FROM NVTX_EVENTS;
INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid) VALUES (1000000, 59, 'pushed', 79037469288), (1300000, 60, 'started', 79037469288), (1015000, 34, 'mark', 79037469288);"; } | sqlite3 open.sqlite
metric-eval open.sqlite -q --kind nvtx_range --csv -
metric-eval open.sqlite -q --by nvtx --csv -
echo == copies of unified memory, and kinds of memory without their table
{ cat "$SOURCE/tests/foreign/nsys.sql"; echo "DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY; DROP TABLE ENUM_CUDA_MEM_KIND;"
  for kind in 1 11 12 13 14; do
      echo "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1210750 + $kind, 1214750 + $kind, 0, 1, 7, 18, (4711 << 24), 16384, $kind, 4, $kind % 9);"
  done; } | sqlite3 uvm.sqlite
metric-eval uvm.sqlite -q --kind copy --csv - | cut -d, -f6-11
metric-eval uvm.sqlite -q --kind memset --csv -
echo == a database of nvprof has other tables
sqlite3 nvprof.sqlite "CREATE TABLE StringTable (_id_ INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringTable VALUES (1, '_Z4gemm');
CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, name INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL VALUES (1000, 2000, 0, 7, 1, 1);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (cbid INTEGER, start INTEGER, end INTEGER, processId INTEGER, threadId INTEGER, correlationId INTEGER, returnValue INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (211, 900, 950, 1, 1, 1, 0);"
metric-eval nvprof.sqlite; echo "status $?"
sqlite3 nvprof.sqlite "PRAGMA page_size = 1024; VACUUM; WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
INSERT INTO StringTable SELECT i, 'kernel ' || i FROM n" # pages of an older SQLite, and more than 64 KiB
metric-eval nvprof.sqlite; echo "status $?"
echo == a database whose last transactions are in a file beside it
half() { # FILE MODE: a program dies in a transaction, or behind it in WAL mode
    sqlite3 "$1" <"$SOURCE/tests/foreign/nsys.sql"
    python3 - "$@" <<'PYTHON'
import os, sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
table = "CUPTI_ACTIVITY_KIND_KERNEL"
c.execute("PRAGMA synchronous=OFF")
c.execute(f"PRAGMA journal_mode={sys.argv[2]}")
for doubled in range(10):
    c.execute(f"INSERT INTO {table} SELECT * FROM {table}")
if sys.argv[2] != "WAL":
    c.execute("PRAGMA cache_size=5")
    c.execute("BEGIN")
    c.execute(f"UPDATE {table} SET end=end+40000")
os._exit(0)
PYTHON
}
without_proc() { ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 LD_PRELOAD="$(dirname "$(command -v make_ranks)")/../tests/io_faults.so" IO_FAULTS=links:0:/proc/self/fd/ "$@"; }
mkdir of real
for mode in WAL DELETE PERSIST; do
    half of/$mode.sqlite $mode; ln -s ../of/$mode.sqlite real/link.sqlite
    for file in of/$mode.sqlite real/link.sqlite; do metric-eval $file -q; echo "status $?"; done
    metric-eval - -q <of/$mode.sqlite
    without_proc metric-eval real/link.sqlite -q; echo "status $?"
    sqlite3 of/$mode.sqlite .tables >/dev/null
    echo "$(metric-eval of/$mode.sqlite -q --kind kernel --csv - | tail -n +2 | wc -l) kernels, sqlite3 has $(sqlite3 of/$mode.sqlite "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")"
    rm real/link.sqlite
done
ls of
sqlite3 of/PERSIST.sqlite "PRAGMA journal_mode = PERSIST; DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid > 2"
[ -s of/PERSIST.sqlite-journal ] && metric-eval of/PERSIST.sqlite -q --kind kernel --csv - | wc -l
echo == processes of one number on two hosts, and in two virtual machines
{ cat "$SOURCE/tests/foreign/nsys.sql"; for bit in 48 56; do for table in KERNEL MEMCPY; do
      echo "CREATE TEMPORARY TABLE t AS SELECT * FROM CUPTI_ACTIVITY_KIND_$table WHERE globalPid >> 48 = 0;
UPDATE t SET globalPid = globalPid + (1 << $bit), start = start + 1000 * $bit, end = end + 1000 * $bit;
INSERT INTO CUPTI_ACTIVITY_KIND_$table SELECT * FROM t; DROP TABLE t;"
  done; done; } | sqlite3 hosts.sqlite
metric-eval hosts.sqlite -q --by process
metric-eval show hosts.sqlite | grep -E "^(process|device)"
metric-eval hosts.sqlite -q --kind copy --csv - | cut -d, -f1-5,11
echo == devices of one number in many processes
many="WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <"
{ cat "$SOURCE/tests/foreign/nsys.sql"; echo "$many 300000) INSERT INTO TARGET_INFO_CUDA_DEVICE SELECT 2, i, 4711 FROM n;
$many 249) INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SELECT 1500000 + i, 1600000, 0, 1, 7, 22, (4711 << 24) + (i << 48), 3, 0 FROM n;"; } | sqlite3 many.sqlite
(ulimit -t 3; metric-eval many.sqlite -q --kind synchronization --csv - | wc -l)
echo == rows that claim 4 GB take long in small pages
{ echo "PRAGMA page_size = 512;"; cat "$SOURCE/tests/foreign/nsys.sql"; } | sqlite3 small.sqlite
sqlite3 many.sqlite "PRAGMA page_size = 2048; VACUUM"
sqlite3 small.sqlite .dump | { echo "PRAGMA page_size = 1024;"; cat; } | sqlite3 enough.sqlite
for file in small many enough; do metric-eval $file.sqlite -q --kind copy --csv - | wc -l; echo "status ${PIPESTATUS[0]}"; done
