/* What the handles of libcounterworks are that views are made of. Each has all that it gives in an arena of its own. */
#ifndef CW_VIEW_HANDLES_H
#define CW_VIEW_HANDLES_H

#include <pthread.h>

#include "base/file_list.h"
#include "base/input.h"
#include "image/counter_data.h"
#include "include/counterworks/counterworks.h"
#include "metricdb/chip.h"

struct cw_lib_share;
struct cw_glossary;

/* What was read of the glossary, also by functions that take the chip as const. */
struct cw_lib_words {
    pthread_mutex_t lock;
    bool asked; /* for a metric */
    struct cw_arena *arena;
    const struct cw_glossary *glossary; /* all of it; NULL: not read */
};

struct counterworks_chip {
    struct cw_arena *arena;
    struct cw_lib_share *share; /* with what else needs the arena */
    const char *folder;
    const struct cw_chip *chip;
    struct cw_lib_words *words;
    void (*tell)(void *user, const char *line); /* NULL: nobody listens */
    void *user;
};

struct counterworks_capture {
    struct cw_arena *arena;
    struct cw_input file;
    const char *name;   /* as the caller has it, for messages */
    const char *source; /* without folders */
    const char *asked;  /* the first word that it was opened by */
    const char *first;  /* the first of its files */
    const char *word;   /* how a shell takes it in another command; FILES where there are several */
    struct cw_counter_data data;
};

#endif
