/* A descriptor of the library. The program may close it by mistake and get its number for a file of its own. */
#ifndef CW_INJECT_DESCRIPTOR_H
#define CW_INJECT_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct cw_descriptor { /* all zeros: none */
    int fd;
    dev_t device;
    ino_t inode;
};

/* Takes over an open descriptor and moves it to a number that programs do not use, at least to none of the standard
 * ones. On failure closes it and returns false, with errno; fd -1 counts as a failure that has set errno. */
bool cw_descriptor_take(struct cw_descriptor *descriptor, int fd);
/* Returns its number; -1 if there is none, or another file now has the number. */
int cw_descriptor_number(const struct cw_descriptor *descriptor);
/* Whether a file may have that size: writing beyond the program's limit would end it by SIGXFSZ. False sets EFBIG. */
bool cw_descriptor_may_grow(size_t size);
/* Closes the descriptor if it is still ours, and clears it. */
void cw_descriptor_close(struct cw_descriptor *descriptor);

#endif
