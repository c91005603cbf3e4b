/* The GPUs of a node, as "capture-agent doctor --facts" writes them (docs/formats.md): what its chip can have and these
 * GPUs have not is not planned for them. */
#ifndef CW_METRICDB_NODE_H
#define CW_METRICDB_NODE_H

#include "metricdb/chip.h"

struct cw_node_gpu {
    uint32_t number;
    const char *chip;
    size_t lack_count;
    const char *const *lacks; /* units by name: what stands before "__" in names of counters */
    bool does_range, does_pm;
};

struct cw_node {
    const char *path;
    size_t count; /* one at least */
    const struct cw_node_gpu *gpus;
};

/* Reads such a file. Everything lives in `arena`. CW_ERR_INPUT with the position for anything wrong. */
enum cw_status cw_node_load(struct cw_node *node, const char *path, struct cw_arena *arena, struct cw_error *err);
/* The same of its text; `path` is for messages. */
enum cw_status cw_node_parse(struct cw_node *node, const void *data, size_t size, const char *path,
                             struct cw_arena *arena, struct cw_error *err);
/* The chip of all its GPUs. CW_ERR_USAGE where they have several. */
enum cw_status cw_node_chip(const char **name, const struct cw_node *node, struct cw_error *err);
/* `*chip` becomes a copy that lacks what all GPUs of this chip lack: what only some lack the agent leaves out there.
 * All lives in `arena`, which must not outlive the one of `*chip`. CW_ERR_USAGE where no GPU has the chip. */
enum cw_status cw_node_apply(const struct cw_chip **chip, const struct cw_node *node, struct cw_arena *arena,
                             struct cw_error *err);

#endif
