/* The four numbers that stand for the instances of a counter. */
#ifndef CW_BASE_ROLLUP_H
#define CW_BASE_ROLLUP_H

enum cw_rollup { CW_SUM, CW_AVG, CW_MIN, CW_MAX, CW_ROLLUP_COUNT };

/* Some of them together: the bit of each. */
#define CW_ROLLUP_BIT(rollup) (1u << (rollup))

#endif
