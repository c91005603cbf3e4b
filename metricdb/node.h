/* The GPUs of a node, as "capture-agent doctor --facts" writes them (docs/formats.md). Plans for them leave out
 * features that the chip can have and these GPUs lack. */
#ifndef CW_METRICDB_NODE_H
#define CW_METRICDB_NODE_H

#include "metricdb/chip.h"

struct cw_node {
    const char *path;
    size_t count; /* at least one */
    const struct cw_node_gpu {
        uint32_t number;
        const char *chip;
        size_t lack_count;
        const char *const *lacks; /* units by name: the part before "__" in names of counters */
        bool does_range, does_pm;
    } * gpus;
};

/* Reads a file of facts. Everything lives in `arena`. CW_ERR_INPUT with the position for any fault. */
enum cw_status cw_node_load(struct cw_node *node, const char *path, struct cw_arena *arena, struct cw_error *err);
/* Reads the text of such a file; `path` is for messages. */
enum cw_status cw_node_parse(struct cw_node *node, const void *data, size_t size, const char *path,
                             struct cw_arena *arena, struct cw_error *err);
/* Returns the chip of all GPUs. CW_ERR_USAGE if they have several. */
enum cw_status cw_node_chip(const char **name, const struct cw_node *node, struct cw_error *err);
/* Replaces `*chip` by a copy that lacks the features that all GPUs of this chip lack. If only some GPUs lack a feature,
 * the agent leaves it out on them. Everything lives in `arena`, which must not outlive the arena of `*chip`.
 * CW_ERR_USAGE if no GPU has the chip. */
enum cw_status cw_node_apply(const struct cw_chip **chip, const struct cw_node *node, struct cw_arena *arena,
                             struct cw_error *err);

#endif
