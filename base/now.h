/* Time since some moment, by a clock that nobody sets (CLOCK_MONOTONIC). */
#ifndef CW_BASE_NOW_H
#define CW_BASE_NOW_H

#include <stdint.h>

uint64_t cw_now_ns(void);
uint64_t cw_now_ms(void);

#endif
