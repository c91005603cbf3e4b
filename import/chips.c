#include "import/chips.h"

#include <string.h>

#include "metricdb/chip_write.h"

/* Writes the text of a chip without its name. */
static void write_nameless(const struct cw_facts *f, struct cw_writer *text)
{
    static const char *const no_source[] = {NULL};
    struct cw_chip chip = f->chip;
    chip.name = "any";
    chip.also_count = 0;
    cw_writer_init(text);
    cw_chip_write(&chip, no_source, text);
}

/* Compares data outside that text: raw counters of the cycles that counters are divided by. */
static bool same_cycles(const struct cw_facts *a, const struct cw_facts *b)
{
    for (uint32_t i = 0; i < a->chip.counter_count; i++)
        if (!cw_list_equal(&a->active_raws[i], &b->active_raws[i]) ||
            !cw_list_equal(&a->elapsed_raws[i], &b->elapsed_raws[i]))
            return false;
    return true;
}

struct known { /* a distinct chip and its text */
    struct cw_facts *facts;
    struct cw_writer *texts;
    size_t count;
};

static enum cw_status add_name(struct cw_facts *kind, const char *name, size_t room, struct cw_error *err)
{
    const char **also = (const char **)kind->chip.also;
    if (!also)
        kind->chip.also = also = cw_arena_alloc(kind->arena, room, sizeof(const char *));
    if (!also)
        return cw_error_nomem(err);
    also[kind->chip.also_count++] = name;
    return CW_OK;
}

static enum cw_status add_chip(struct known *k, const struct cw_nvperf *library, const char *name, size_t room,
                               struct cw_arena *arena, struct cw_error *err)
{
    struct cw_facts *facts = &k->facts[k->count];
    struct cw_writer *text = &k->texts[k->count];
    enum cw_status status = cw_facts_import(facts, library, name, arena, err);
    if (status != CW_OK)
        return status;
    write_nameless(facts, text);
    if (text->status != CW_OK)
        return cw_error_nomem(err);
    for (size_t i = 0; i < k->count; i++)
        if (k->texts[i].size == text->size && memcmp(k->texts[i].data, text->data, text->size) == 0 &&
            same_cycles(&k->facts[i], facts)) {
            cw_writer_free(text);
            return add_name(&k->facts[i], facts->chip.name, room, err);
        }
    k->count++;
    return CW_OK;
}

enum cw_status cw_chips_import(struct cw_facts **out, size_t *count, const struct cw_nvperf *library,
                               void (*progress)(const char *chip), struct cw_arena *arena, struct cw_error *err)
{
    const char *const *names;
    size_t chips;
    enum cw_status status = cw_nvperf_chips(library, &names, &chips, err);
    if (status != CW_OK)
        return status;
    struct known k = {.facts = cw_arena_alloc(arena, chips, sizeof *k.facts),
                      .texts = cw_arena_alloc(arena, chips, sizeof *k.texts)};
    if (!k.facts || !k.texts)
        return cw_error_nomem(err);
    for (size_t i = 0; status == CW_OK && i < chips; i++) {
        if (progress)
            progress(names[i]);
        status = add_chip(&k, library, names[i], chips, arena, err);
    }
    for (size_t i = 0; i < chips; i++)
        cw_writer_free(&k.texts[i]);
    *out = k.facts;
    *count = k.count;
    return status;
}
