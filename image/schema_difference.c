#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/schema.h"

/* A text that is cut off when its room is full. */
struct text {
    char at[600];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->at + t->used, sizeof t->at - t->used, format, args);
    va_end(args);
    t->used += n < 0 ? 0 : (size_t)n < sizeof t->at - t->used ? (size_t)n : sizeof t->at - t->used - 1;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static const char *name_of(const struct cw_schema *s, bool counters, uint32_t i)
{
    return counters ? s->counters[i].name : s->metrics[i];
}

static uint32_t count_of(const struct cw_schema *s, bool counters)
{
    return counters ? s->counter_count : s->metric_count;
}

/* Writes "a, b, c and 7 more": names that `b` has and `a` lacks. Returns their number. */
static uint32_t say_missing(struct text *t, const struct cw_schema *a, const struct cw_schema *b, bool counters,
                            struct cw_arena *arena)
{
    enum { SHOWN = 3 };
    uint32_t has = count_of(a, counters), missing = 0;
    const char **sorted = cw_arena_alloc(arena, has, sizeof *sorted);
    for (uint32_t i = 0; sorted && i < has; i++)
        sorted[i] = name_of(a, counters, i);
    if (sorted)
        qsort(sorted, has, sizeof *sorted, by_name);
    for (uint32_t i = 0; sorted && i < count_of(b, counters); i++) {
        const char *name = name_of(b, counters, i);
        if (!bsearch(&name, sorted, has, sizeof *sorted, by_name) && missing++ < SHOWN)
            say(t, "%s%.60s", missing > 1 ? ", " : "", name);
    }
    if (missing > SHOWN)
        say(t, " and %" PRIu32 " more", missing - SHOWN);
    return missing;
}

static void say_difference(struct text *t, const struct cw_schema *a, const struct cw_schema *b, struct cw_arena *arena)
{
    if (strcmp(a->chip, b->chip) != 0) {
        say(t, "its chip is %.30s, not %.30s", a->chip, b->chip);
        return;
    }
    for (int counters = 1; counters >= 0; counters--) {
        const char *what = counters ? "counter" : "metric";
        struct text lacks = {0}, more = {0};
        uint32_t less = say_missing(&lacks, a, b, counters, arena), other = say_missing(&more, b, a, counters, arena);
        if (less)
            say(t, "it lacks the %s%s %s", what, less > 1 ? "s" : "", lacks.at);
        if (other)
            say(t, "%s the %s%s %s", less ? ", and has" : "it alone has", what, other > 1 ? "s" : "", more.at);
        if (less || other)
            return;
    }
    if (a->pass_count != b->pass_count)
        say(t, "it has %" PRIu32 " pass%s, not %" PRIu32, a->pass_count, a->pass_count == 1 ? "" : "es", b->pass_count);
    else if (memcmp(a->database, b->database, sizeof a->database) != 0)
        say(t, "it was planned with another version of the chip's database");
    else
        say(t, "its counters lie in other passes, or have other meanings");
}

static void write_plan(const struct cw_schema *schema, struct cw_writer *out)
{
    struct cw_schema plan = *schema;
    plan.fact_count = 0;
    cw_writer_init(out);
    cw_schema_write(&plan, out);
}

const char *cw_schema_difference(const struct cw_schema *a, const struct cw_schema *b, struct cw_arena *arena)
{
    struct text t = {0};
    struct cw_writer x, y;
    write_plan(a, &x);
    write_plan(b, &y);
    const bool good = x.status == CW_OK && y.status == CW_OK;
    if (good && (x.size != y.size || memcmp(x.data, y.data, x.size) != 0))
        say_difference(&t, a, b, arena);
    cw_writer_free(&x);
    cw_writer_free(&y);
    return good ? cw_arena_strdup(arena, t.at) : NULL;
}
