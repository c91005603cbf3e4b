/* A plan taken apart into passes whose counter data is one.
 *
 * NVIDIA's counter data has one value for each raw counter: of one that stands in several passes it holds the mean.
 * Passes that share a raw counter therefore go to different parts, each with counter data of its own, and a counter
 * that several passes hold whole has a value of each. One that no pass holds whole needs all its passes in one part:
 * where those share others, it is given passes that do not. */
#ifndef CW_PASSES_PARTS_H
#define CW_PASSES_PARTS_H

#include "image/config_image.h"
#include "passes/parts_complete.h"

enum cw_parting {
    CW_PARTS_FEW,    /* as few as keep shared raw counters apart */
    CW_PARTS_PASSES, /* one for each pass; counters that no pass holds whole are in none */
    CW_PARTS_ONE,    /* one only: a raw counter is left to one of its passes */
};

struct cw_part {
    struct cw_config_image plan; /* some of the passes, with the raw counters and counters that are collected in them */
    const uint32_t *columns;     /* of each of its counters: the schema's column that its values are; ascending */
    const uint32_t *passes;      /* of each of its passes: the number in the schema */
};

struct cw_parts {
    uint32_t count; /* at least one */
    struct cw_part *items;
    uint32_t added;              /* passes, so that what a counter is spread over can be in one part */
    struct cw_config_image plan; /* as the parts collect it: the plan's passes, then those added */
    struct cw_schema schema;     /* of what all parts collect */
};

struct cw_parts_rules {
    enum cw_parting how;
    cw_parts_fits *fits; /* NULL: no pass takes more than the plan gave it */
    void *user;
};

/* Lists live in `arena`, the rest is shared with the plan. A native config image stays in a part that is all of the
 * plan. CW_ERR_UNSUPPORTED for more than CW_PASSES_MAX. */
enum cw_status cw_parts_make(struct cw_parts *parts, const struct cw_config_image *plan,
                             const struct cw_parts_rules *rules, struct cw_arena *arena, struct cw_error *err);

/* Each pass of `parts->plan` that holds a counter whole, by itself; the one that holds most comes first. Columns are
 * those of `parts->schema`. Lists live in `arena`, the rest is shared with the parts. There is at least one, unless the
 * plan has no passes. */
enum cw_status cw_parts_single_passes(struct cw_part **list, uint32_t *count, const struct cw_parts *parts,
                                      struct cw_arena *arena, struct cw_error *err);

#endif
