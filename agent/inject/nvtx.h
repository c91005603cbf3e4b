/* NVTX's ranges, and the names that a program registers for them: domains, and their strings. A handle is a number that
 * is never reused; the name of an invalid or destroyed handle is "". Each text is stored once. All texts together take
 * at most CW_NVTX_MOST_BYTES; names registered beyond that are "". */
#ifndef CW_INJECT_NVTX_H
#define CW_INJECT_NVTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CW_NVTX_MOST_BYTES = 8 << 20 };

struct cw_nvtx_name {
    uint64_t handle, domain;      /* domain: DOMAINS, or the string's */
    const char *text;             /* stored behind the structure */
    uint64_t uses;                /* for a domain: number of its creations */
    struct cw_nvtx_name *strings; /* for a domain */
    struct cw_nvtx_name *next;    /* next in the same domain */
};

struct cw_nvtx_names {
    void *by_text, *by_handle; /* trees of all names */
    struct cw_nvtx_name none;  /* the default domain */
    uint64_t last;             /* last handle */
    size_t bytes;
    bool said; /* the message about too many names was printed */
};
extern struct cw_nvtx_names *const cw_nvtx_names;

#endif
