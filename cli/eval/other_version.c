#define _GNU_SOURCE
#include "cli/eval/other_version.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "metricdb/formula.h"
#include "metricdb/meaning.h"

enum { MOST_NAMED = 4 };

/* Counters go by their names, so a capture of another version of the database is read as far as both know them. */
static void say_unknown_counters(const char *capture, const struct cw_schema *schema, const struct cw_chip *chip)
{
    const char *first = NULL;
    uint32_t unknown = 0;
    if (memcmp(schema->database, chip->hash, sizeof chip->hash) == 0)
        return;
    for (uint32_t i = 0; i < schema->counter_count; i++) {
        const char *name = schema->counters[i].name;
        enum cw_metric_type type;
        uint32_t index;
        if (cw_chip_find(chip, name, strlen(name), &type, &index) && type == CW_COUNTER)
            continue;
        first = first ? first : name;
        unknown++;
    }
    if (unknown)
        cw_text_print(stderr,
                      "%s: %s: planned with another version of the %s database; this one does not know %" PRIu32
                      " of its counters: %s%s\n",
                      program_invocation_short_name, capture, chip->name, unknown, first, unknown > 1 ? ", ..." : "");
}

/* What is another meaning in the database here, or NULL. */
static const char *difference(const struct cw_chip *chip, const struct cw_meaning *planned)
{
    const struct cw_base_meaning then = {planned->raws, planned->formula};
    enum cw_metric_type type = CW_FORMULA;
    uint32_t base = cw_formulas_find(chip, planned->name);
    if (base == CW_NONE && !cw_chip_find(chip, planned->name, strlen(planned->name), &type, &base))
        return NULL;
    struct cw_base_meaning now = cw_base_meaning(chip, type, base);
    return !cw_base_meaning_changed(&then, &now) ? NULL
           : then.raws == now.raws               ? "another formula"
           : type == CW_FORMULA                  ? "another unit"
                                                 : "other raw counters";
}

static void say_other_meanings(const char *capture, const struct cw_schema *schema, const struct cw_chip *chip)
{
    uint32_t count = 0, named = 0;
    for (uint32_t i = 0; i < schema->meaning_count; i++)
        count += difference(chip, &schema->meanings[i]) != NULL;
    if (!count)
        return;
    cw_text_print(stderr, "%s: %s: when this was planned, %" PRIu32 " name%s meant something else than for %s here:",
                  program_invocation_short_name, capture, count, count == 1 ? "" : "s", chip->name);
    for (uint32_t i = 0; i < schema->meaning_count && named < MOST_NAMED; i++) {
        const char *what = difference(chip, &schema->meanings[i]);
        if (what)
            cw_text_print(stderr, "%s %s (%s)", named++ ? "," : "", schema->meanings[i].name, what);
    }
    fputs(count > named ? ", ...\n" : "\n", stderr);
}

void cw_say_other_version(const char *capture, const struct cw_schema *schema, const struct cw_chip *chip)
{
    say_unknown_counters(capture, schema, chip);
    say_other_meanings(capture, schema, chip);
}
