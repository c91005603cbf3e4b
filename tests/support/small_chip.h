/* A chip file small enough to read, and the same with a part of it replaced. */
#ifndef CW_TESTS_SMALL_CHIP_H
#define CW_TESTS_SMALL_CHIP_H

extern const char cw_small_chip[];

/* The text with the first `from` replaced by `to`, in malloc memory; fails the program where there is no `from`. */
char *cw_text_with(const char *text, const char *from, const char *to);

#endif
