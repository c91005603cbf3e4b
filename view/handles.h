/* The handles of libcounterworks that views are made from. Each owns an arena with all its memory. */
#ifndef CW_VIEW_HANDLES_H
#define CW_VIEW_HANDLES_H

#include "base/file_list.h"
#include "base/input.h"
#include "image/counter_data.h"
#include "include/counterworks/counterworks.h"
#include "metricdb/chip.h"

struct cw_lib_share;
struct cw_lib_words;

struct counterworks_chip {
    struct cw_arena *arena;
    struct cw_lib_share *share; /* shares the arena with plans */
    const char *folder;
    const struct cw_chip *chip;
    struct cw_lib_words *words;                 /* read of the glossary */
    void (*tell)(void *user, const char *line); /* NULL: nobody listens */
    void *user;
};

struct counterworks_capture {
    struct cw_arena *arena;
    struct cw_input file;
    const char *name;         /* as the caller wrote it, for messages */
    const char *source;       /* the name without folders */
    const char *asked;        /* the first word of the command line or call */
    const char *first;        /* the path of the first file */
    const char *word;         /* quoted for a shell; FILES where there are several */
    size_t run_count;         /* how many words it was opened from, each a run of the program; 0: one */
    const uint32_t *run_ends; /* [run_count]: the number of ranges, or of a trace's processes, up to each run's end */
    /* The regular files that it was opened from, in the order of cw_opened_file_compare. */
    struct cw_opened_file {
        uint64_t device, number; /* equal for all names of one file */
        const char *path;
    } * files;
    size_t file_count;
    struct cw_counter_data data;
};

#endif
