/* Texts that a file has once, under numbers. */
#ifndef CW_EVAL_OUTPUT_INTERNS_H
#define CW_EVAL_OUTPUT_INTERNS_H

#include "base/hash_table.h"

struct cw_interns { /* begins as zeros */
    const char **texts;
    size_t room;
    struct cw_hash_table table; /* of texts */
    bool nomem;
};

/* The number of a text, from 1 on; the text must live as long as the table. *added: it is a new one. 0 when out of
 * memory, which `nomem` remembers. */
uint64_t cw_interns_number(struct cw_interns *interns, const char *text, bool *added);
void cw_interns_free(struct cw_interns *interns);

#endif
