/* Prints numbers quickly as the shortest decimals that read back the same: snprintf's text with 15, 16 or 17 digits,
 * the first of them that reads back. */
#ifndef CW_BASE_DECIMAL_H
#define CW_BASE_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Gives the numbers that the thread reads and prints a decimal point, whatever its locale has. Returns that locale, for
 * cw_decimal_point_end; NULL if it stays. */
void *cw_decimal_point_begin(void);
void cw_decimal_point_end(void *before);

enum { CW_DECIMAL_SIZE = 32 };
/* Writes "1.5", "1e+20", "inf", "-inf" or "nan", with a NUL at the end. Returns the length of `text`. */
size_t cw_decimal_text(double value, char text[CW_DECIMAL_SIZE]);
/* Writes a whole number in the same way. */
size_t cw_decimal_u64(uint64_t value, char text[CW_DECIMAL_SIZE]);
/* Reads a number written in digits alone. False for a sign, a blank or any other character, and for a number that is
 * too large. */
bool cw_decimal_read_u32(const char *text, uint32_t *value);
/* Reads "-1700000000.125e6" times 10^shift, rounded to whole; numbers beyond +-2^62 become that. False for any other
 * text. */
bool cw_decimal_read_shifted(const char *text, size_t size, int shift, int64_t *value);

#endif
