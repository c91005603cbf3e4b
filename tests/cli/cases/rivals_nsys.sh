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
