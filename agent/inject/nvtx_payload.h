/* Payloads of NVTX's events that have a schema: NCCL, for one, gives the sizes and peers of its calls so. A program
 * registers schemas and enumerations in its domains; an event's payload becomes one JSON object, with a member for each
 * entry of the schema that has a name. All functions need the library's lock. */
#ifndef CW_INJECT_NVTX_PAYLOAD_H
#define CW_INJECT_NVTX_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExtSync.h>

enum {
    CW_NVTX_MOST_SCHEMAS = 1024,
    CW_NVTX_MOST_ENTRIES = 256,
    CW_NVTX_LONGEST_PAYLOAD = 768,
    CW_NVTX_LONGEST_NAME = 260
};

/* Each keeps a copy for the rest of the process. Returns the number by which payloads name it: the program's own, or
 * else a new one. 0 for one
 * that is refused: without entries, too large, or beyond the number of schemas that are kept. */
uint64_t cw_nvtx_schema_register(uint64_t domain, const nvtxPayloadSchemaAttr_t *attributes);
uint64_t cw_nvtx_enum_register(uint64_t domain, const nvtxPayloadEnumAttr_t *attributes);

/* Writes payloads as a JSON object, in CW_NVTX_LONGEST_PAYLOAD bytes; "" if nothing of them is known. Left out: the
 * first member that does not fit and all behind it, structures below the second level, unions, arrays whose length is
 * in another entry, numbers of 16 and 128 bits, and UTF-16 and UTF-32; an array ends behind 32 elements, a string
 * behind 256 bytes. `name`: the text of the handle of a registered string. */
void cw_nvtx_payload_write(char *to, uint64_t domain, const nvtxPayloadData_t *payloads, size_t count,
                           const char *(*name)(uint64_t handle));
/* Writes a name for an event that has payloads alone, in CW_NVTX_LONGEST_NAME bytes: the entry of the first payload
 * that is its message, or else the name of its schema, or "". */
void cw_nvtx_payload_name(char *to, uint64_t domain, const nvtxPayloadData_t *payloads, size_t count,
                          const char *(*name)(uint64_t handle));

#endif
