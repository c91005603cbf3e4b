/* A scheduling problem: the part of a chip's limits that concerns some raw counters. Internal to the scheduler.
 *
 * Placements that the limits treat alike form one class. Limits that allow only one group become bitsets of conflicting
 * classes, the others rules with numbered groups. Limits that cannot be exceeded are left out. */
#ifndef CW_HOST_SCHEDULE_PROBLEM_H
#define CW_HOST_SCHEDULE_PROBLEM_H

#include "metricdb/chip.h"

struct cw_problem {
    uint32_t section; /* problems of different sections never share a pass */
    uint32_t item_count, class_count, rule_count, group_count, words; /* words of a bitset of classes */
    struct cw_item {
        uint32_t raw; /* of the chip */
        uint32_t choice_count;
        struct cw_choice {      /* one way to collect an item */
            uint32_t placement; /* of the chip */
            uint32_t class_;
            uint64_t costs; /* the chip's pass costs that it causes, a bit each */
        } * choices;        /* possible choices only */
    } * items;
    const struct cw_problem_class {
        /* A group that a class occupies in a rule; `group` CW_NONE: each of its placements has a group of its own. */
        const struct cw_use {
            uint32_t rule, group;
        } * uses; /* ascending by rule */
        uint32_t use_count;
        const uint64_t *conflicts; /* bitset of classes */
        bool possible;             /* allowed in a pass, at least alone */
    } * classes;
    const uint32_t *max; /* by rule */
    const struct cw_pass_cost *costs;
};

/* Cost of a pass; `costs` has a bit for each pass cost that it causes. */
uint64_t cw_problem_cost(const struct cw_problem *problem, uint64_t costs);

struct cw_item_id {
    uint32_t problem, item;
};

/* All requested raw counters, divided into independent problems. */
struct cw_problems {
    const struct cw_chip *chip;
    uint32_t count, section_count;
    struct cw_problem *items;
    struct cw_item_id *ids; /* by raw counter of the chip; only for requested ones */
};

/* Makes the problems of `raws`, distinct indices of raw counters. CW_ERR_UNSUPPORTED for a raw counter that no pass can
 * hold. */
enum cw_status cw_problems_make(struct cw_problems *problems, const struct cw_chip *chip,
                                const struct cw_limits *limits, const struct cw_list *raws, struct cw_arena *arena,
                                struct cw_error *err);

/* The section of a requested raw counter. */
uint32_t cw_problems_section(const struct cw_problems *problems, uint32_t raw);

#endif
