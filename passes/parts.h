/* Divides a plan into parts: sets of passes with common counter data.
 *
 * NVIDIA's counter data has one value for each raw counter: the mean, if it stands in several passes. Passes that share
 * a raw counter therefore go to different parts, each with its own counter data; a counter that several passes hold
 * whole then has a value from each. A counter that no pass holds whole needs all its passes in one part. If these
 * passes share raw counters with others, new passes are added that do not. */
#ifndef CW_PASSES_PARTS_H
#define CW_PASSES_PARTS_H

#include "base/buckets.h"
#include "image/config_image.h"
#include "passes/parts_complete.h"

enum cw_parting {
    CW_PARTS_FEW,    /* as few parts as keep shared raw counters apart */
    CW_PARTS_PASSES, /* a part for each pass; counters that no pass holds whole are left out */
    CW_PARTS_ONE,    /* a single part: each raw counter is left to one of its passes */
};

struct cw_part {
    struct cw_config_image plan; /* some of the passes, with the raw counters and counters collected in them */
    const uint32_t *columns;     /* by counter of `plan`: the column of the schema with its values; ascending */
    const uint32_t *passes;      /* by pass of `plan`: its number in the schema */
};

struct cw_parts {
    uint32_t count; /* at least one */
    struct cw_part *items;
    uint32_t added;              /* number of passes added, so that one part can have a spread counter */
    struct cw_config_image plan; /* the plan as the parts collect it: its own passes, then the added ones */
    struct cw_schema schema;     /* schema of all parts together */
};

struct cw_parts_rules {
    enum cw_parting how;
    cw_parts_fits *fits; /* NULL: no pass takes more than the plan gave it */
    void *user;
};

/* Divides a plan. Lists live in `arena`, the rest is shared with the plan. A part that is the whole plan keeps its
 * native config image. CW_ERR_UNSUPPORTED for more than CW_PASSES_MAX passes. */
enum cw_status cw_parts_make(struct cw_parts *parts, const struct cw_config_image *plan,
                             const struct cw_parts_rules *rules, struct cw_arena *arena, struct cw_error *err);

/* Each pass of `parts->plan` that holds a counter whole, by itself; the one that holds most comes first. Columns are
 * the schema of `parts`. Lists live in `arena`, the rest is shared with the parts. There is at least one, unless the
 * plan has no passes. */
enum cw_status cw_parts_single_passes(struct cw_part **list, uint32_t *count, const struct cw_parts *parts,
                                      struct cw_arena *arena, struct cw_error *err);

enum { CW_PARTS_NONE = CW_NO_BUCKET };

#endif
