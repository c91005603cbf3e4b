/* NVTX's ranges, and the names that a program has registered for them: domains, and strings of theirs. A handle is a
 * number that is never used again; what is no handle, or was one, has the name "". Each text is kept once, and no more
 * than CW_NVTX_MOST_BYTES of all: what a program registers beyond that has no name. */
#ifndef CW_INJECT_NVTX_H
#define CW_INJECT_NVTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CW_NVTX_MOST_BYTES = 8 << 20 };

struct cw_nvtx_name {
    uint64_t handle, domain;      /* domain: DOMAINS, or the string's */
    const char *text;             /* behind the structure */
    uint64_t uses;                /* of a domain: how often it was made */
    struct cw_nvtx_name *strings; /* of a domain */
    struct cw_nvtx_name *next;    /* of the same domain */
};

struct cw_nvtx_names {
    void *by_text, *by_handle; /* trees of all names */
    struct cw_nvtx_name none;  /* the default domain */
    uint64_t last;             /* handle */
    size_t bytes;
    bool said; /* that there are too many */
};
extern struct cw_nvtx_names *const cw_nvtx_names;

#endif
