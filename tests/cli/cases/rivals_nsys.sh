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
