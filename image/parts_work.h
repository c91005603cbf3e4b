/* A plan while it is taken apart: what parts.c and parts_spread.c share. */
#ifndef CW_IMAGE_PARTS_WORK_H
#define CW_IMAGE_PARTS_WORK_H

#include "image/parts.h"

enum { CW_PARTS_NONE = UINT32_MAX };

struct cw_parts_pass {
    struct cw_placement *placements;
    uint32_t count, room, part; /* part: CW_PARTS_NONE while it is in none */
    uint32_t bond;              /* another pass that a counter is spread over too; the last one's is its own */
    uint32_t next;              /* the next pass of the bundle, or CW_PARTS_NONE */
    bool grown;                 /* it has what the plan does not give it */
};

/* Where each raw counter stands in the passes of a plan. */
struct cw_parts_places {
    uint32_t *first; /* of raw counter r: its places are first[r] up to first[r + 1], one a pass, ascending */
    struct cw_parts_place {
        uint32_t pass, pair; /* pair: a number for this pass with this domain */
        const struct cw_placement *at;
    } * items;
    uint32_t pair_count;
};
/* Lists live in `arena`. False when out of memory. */
bool cw_parts_list_places(struct cw_parts_places *places, const struct cw_config_image *plan, struct cw_arena *arena);

struct cw_parts_work {
    const struct cw_config_image *plan;
    struct cw_arena *arena, *scratch;
    struct cw_parts *parts;
    const struct cw_parts_rules *rules;
    struct cw_error *err;
    struct cw_parts_pass *passes; /* those of the plan, with what is of use, then those added */
    uint32_t pass_count;
    uint32_t *marks;               /* of each raw counter: what saw it last */
    uint32_t *user_start, *users;  /* of each raw counter: the counters that need it, once for each time */
    struct cw_schema_repeat *held; /* a pass has all raw counters of a counter: by pass */
    uint32_t held_count;
    uint32_t *first_held;  /* of each counter: the first pass that has it, or CW_PARTS_NONE */
    uint32_t *column_part; /* of each column of the schema, or CW_PARTS_NONE */
};

/* How a raw counter is collected, or NULL where it is not among them. */
static inline const struct cw_placement *cw_parts_find(const struct cw_placement *placements, uint32_t count,
                                                       uint32_t raw)
{
    for (uint32_t k = 0; k < count; k++)
        if (placements[k].raw == raw)
            return &placements[k];
    return NULL;
}

/* CW_ERR_UNSUPPORTED for more than CW_PASSES_MAX. */
enum cw_status cw_parts_check_passes(uint32_t count, struct cw_error *err);

/* Puts all raw counters of each counter that no pass holds into one part. */
enum cw_status cw_parts_place_spread(struct cw_parts_work *p);

#endif
