/* A descriptor of the library's in a process whose program may close it, and give its number to a file of its own. */
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

/* Takes over an open descriptor and gives it a number that programs do not use, at least none of the standard ones.
 * Closes it and is false where that cannot be, with errno; -1 is taken as a failure that has set it. */
bool cw_descriptor_take(struct cw_descriptor *descriptor, int fd);
/* Its number; -1 where there is none, or another file has it now. */
int cw_descriptor_number(const struct cw_descriptor *descriptor);
/* Whether a file may have that size: one beyond the program's limit would end it by SIGXFSZ. Else false, EFBIG. */
bool cw_descriptor_may_grow(size_t size);
/* Closes it where it is still ours, and forgets it. */
void cw_descriptor_close(struct cw_descriptor *descriptor);

#endif
