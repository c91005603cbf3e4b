/* Numbers as the shortest decimals that read back the same, quickly: what snprintf with 15, 16 or 17 digits prints,
 * whichever is the first that does. */
#ifndef CW_BASE_DECIMAL_H
#define CW_BASE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CW_DECIMAL_SIZE = 32 };
/* "1.5", "1e+20", "inf", "-inf", "nan"; returns the length of `text`, which ends with a NUL. */
size_t cw_decimal_text(double value, char text[CW_DECIMAL_SIZE]);
/* The same of a whole number. */
size_t cw_decimal_u64(uint64_t value, char text[CW_DECIMAL_SIZE]);
/* Reads digits alone: no sign, blank or other character, and no number that is too large. */
bool cw_decimal_read_u32(const char *text, uint32_t *value);

#endif
