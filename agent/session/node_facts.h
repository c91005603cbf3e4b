/* Collects facts about a node's GPUs before any capture: their chips and attributes, missing units, and the captures
 * that work on them. "metric-config --device-facts" reads them as a file. Captures get the attributes that a program's
 * process does not know. */
#ifndef CW_AGENT_NODE_FACTS_H
#define CW_AGENT_NODE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "image/schema.h"

struct cw_node_facts;

/* In `arena`; NULL when out of memory. */
struct cw_node_facts *cw_node_facts_create(struct cw_arena *arena);
/* Whether it has any GPU. */
bool cw_node_facts_any(const struct cw_node_facts *facts);

/* Adds a GPU; the functions below refer to the last one. */
void cw_node_facts_gpu(struct cw_node_facts *facts, uint32_t number, const char *chip);
void cw_node_facts_attribute(struct cw_node_facts *facts, const char *key, const char *value);
/* Adds a kind of capture that works, by its command: "range". */
void cw_node_facts_does(struct cw_node_facts *facts, const char *command);
/* Notes that the missing units are known: only the ones named by `unit`, which may be NULL. */
void cw_node_facts_lacks(struct cw_node_facts *facts, const char *unit);

/* Gives the device a list of its attributes in `arena`, with those of the GPU at its PCI address that it lacks,
 * but for the rank, which is the agent's. `facts`
 * may be NULL. False when out of memory. */
bool cw_node_facts_join(const struct cw_node_facts *facts, struct cw_device *device, struct cw_arena *arena);

/* Writes the JSON file described in docs/formats.md; "-" is standard output. CW_ERR_DEVICE if there is no GPU. */
enum cw_status cw_node_facts_write(const struct cw_node_facts *facts, const char *path, struct cw_error *err);

#endif
