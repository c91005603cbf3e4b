/* Collects facts about a node's GPUs before any capture, for "metric-config --device-facts": their chips and
 * attributes, missing units, and the captures that work on them. */
#ifndef CW_AGENT_NODE_FACTS_H
#define CW_AGENT_NODE_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

struct cw_node_facts;

/* NULL when out of memory. */
struct cw_node_facts *cw_node_facts_create(void);
void cw_node_facts_free(struct cw_node_facts *facts);
/* Whether it has any GPU. */
bool cw_node_facts_any(const struct cw_node_facts *facts);

/* Adds a GPU; the functions below refer to the last one. */
void cw_node_facts_gpu(struct cw_node_facts *facts, uint32_t number, const char *chip);
void cw_node_facts_attribute(struct cw_node_facts *facts, const char *key, const char *value);
/* Adds a kind of capture that works, by its command: "range". */
void cw_node_facts_does(struct cw_node_facts *facts, const char *command);
/* Notes that the missing units are known: only the ones named by `unit`, which may be NULL. */
void cw_node_facts_lacks(struct cw_node_facts *facts, const char *unit);

/* Writes the JSON file described in docs/formats.md; "-" is standard output. CW_ERR_DEVICE if there is no GPU. */
enum cw_status cw_node_facts_write(const struct cw_node_facts *facts, const char *path, struct cw_error *err);

#endif
