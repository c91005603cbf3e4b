# Databases of nsys beside the one of tests/foreign.
echo == copies from GPU to GPU name both of them
{ cat "$SOURCE/tests/foreign/nsys.sql"; echo "ALTER TABLE CUPTI_ACTIVITY_KIND_MEMCPY ADD srcDeviceId INTEGER; ALTER TABLE CUPTI_ACTIVITY_KIND_MEMCPY ADD dstDeviceId INTEGER;
UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = 10, dstKind = 2, srcDeviceId = 0, dstDeviceId = 1;"; } | sqlite3 peer.sqlite
metric-eval peer.sqlite -q --kind copy --csv -
