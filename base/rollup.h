/* The four rollups of a counter over its instances. */
#ifndef CW_BASE_ROLLUP_H
#define CW_BASE_ROLLUP_H

enum cw_rollup { CW_SUM, CW_AVG, CW_MIN, CW_MAX, CW_ROLLUP_COUNT };

/* A set of rollups has one bit for each. */
#define CW_ROLLUP_BIT(rollup) (1u << (rollup))

#endif
