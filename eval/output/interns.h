/* Texts that a file has once, under numbers. */
#ifndef CW_EVAL_OUTPUT_INTERNS_H
#define CW_EVAL_OUTPUT_INTERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cw_interns {
    size_t count, capacity;
    struct cw_intern {
        const char *text;
        uint64_t hash, number;
    } * slots;
    bool nomem;
};

/* The number of a text, from 1 on; the text must live as long as the table. *added: it is a new one. 0 when out of
 * memory, which `nomem` remembers. */
uint64_t cw_interns_number(struct cw_interns *interns, const char *text, bool *added);
void cw_interns_free(struct cw_interns *interns);

#endif
