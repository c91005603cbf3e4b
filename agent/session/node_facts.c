#include "agent/session/node_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "image/counter_data.h"

struct fact {
    const char *key, *value; /* value NULL: no value */
};

struct fact_list {
    uint32_t count, room;
    struct fact *items;
};

struct gpu_facts {
    uint32_t number;
    const char *chip;
    bool units_known;
    struct fact_list attributes, does, lacks;
};

struct cw_node_facts {
    struct cw_arena *arena;
    uint32_t count, room;
    struct gpu_facts *gpus;
    bool out_of_memory;
};

struct cw_node_facts *cw_node_facts_create(struct cw_arena *arena)
{
    struct cw_node_facts *facts = cw_arena_alloc(arena, 1, sizeof *facts);
    if (facts)
        *facts = (struct cw_node_facts){.arena = arena};
    return facts;
}

bool cw_node_facts_any(const struct cw_node_facts *f)
{
    return f->count;
}

/* Makes room for one more of `count` items and copies the others; NULL on failure. */
static void *grow(struct cw_node_facts *f, void *items, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return items;
    uint32_t more = *room ? 2 * *room : 16;
    void *grown = cw_arena_alloc(f->arena, more, size);
    f->out_of_memory = f->out_of_memory || !grown;
    if (!grown)
        return NULL;
    if (count)
        memcpy(grown, items, count * size);
    *room = more;
    return grown;
}

void cw_node_facts_gpu(struct cw_node_facts *f, uint32_t number, const char *chip)
{
    struct gpu_facts *grown = grow(f, f->gpus, f->count, &f->room, sizeof *grown);
    const char *own = cw_arena_strdup(f->arena, chip);
    f->out_of_memory = f->out_of_memory || !own;
    if (f->out_of_memory)
        return;
    f->gpus = grown;
    f->gpus[f->count++] = (struct gpu_facts){.number = number, .chip = own};
}

static void add(struct cw_node_facts *f, struct fact_list *list, const char *key, const char *value)
{
    struct fact *grown = grow(f, list->items, list->count, &list->room, sizeof *grown);
    struct fact own = {cw_arena_strdup(f->arena, key), value ? cw_arena_strdup(f->arena, value) : NULL};
    f->out_of_memory = f->out_of_memory || !own.key || (value && !own.value);
    if (f->out_of_memory)
        return;
    list->items = grown;
    list->items[list->count++] = own;
}

static struct gpu_facts *last(struct cw_node_facts *f)
{
    return f->count && !f->out_of_memory ? &f->gpus[f->count - 1] : NULL;
}

void cw_node_facts_attribute(struct cw_node_facts *f, const char *key, const char *value)
{
    if (last(f))
        add(f, &last(f)->attributes, key, value);
}

void cw_node_facts_does(struct cw_node_facts *f, const char *command)
{
    if (last(f))
        add(f, &last(f)->does, command, NULL);
}

void cw_node_facts_lacks(struct cw_node_facts *f, const char *unit)
{
    if (!last(f))
        return;
    last(f)->units_known = true;
    if (unit)
        add(f, &last(f)->lacks, unit, NULL);
}

/* ---- captures --------------------------------------------------------------------------------------------------- */

static const char *value_of(const struct fact_list *list, const char *key)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].key, key) == 0)
            return list->items[i].value;
    return NULL;
}

static const struct fact_list *at(const struct cw_node_facts *f, const char *pci)
{
    for (uint32_t i = 0; f && pci && i < f->count; i++) {
        const char *own = value_of(&f->gpus[i].attributes, "pci");
        if (own && strcmp(own, pci) == 0)
            return &f->gpus[i].attributes;
    }
    return NULL;
}

bool cw_node_facts_join(const struct cw_node_facts *f, struct cw_device *device, struct cw_arena *arena)
{
    const struct fact_list *known = at(f, cw_device_attribute(device, "pci"));
    const uint32_t more = known ? known->count : 0;
    struct cw_pair *pairs = cw_arena_alloc(arena, (size_t)device->attribute_count + more + 1, sizeof *pairs);
    if (!pairs)
        return false;
    uint32_t count = 0;
    for (uint32_t i = 0; i < device->attribute_count; i++)
        pairs[count++] = device->attributes[i];
    for (uint32_t i = 0; i < more; i++)
        if (!cw_pair_is_rank(known->items[i].key) && !cw_device_attribute(device, known->items[i].key))
            pairs[count++] = (struct cw_pair){known->items[i].key, known->items[i].value};
    device->attributes = pairs;
    device->attribute_count = count;
    return true;
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static void print_list(FILE *out, const char *name, const struct fact_list *list)
{
    const bool pairs = list->count && list->items[0].value;
    fprintf(out, ",\n     \"%s\": %s", name, pairs ? "{" : "[");
    for (uint32_t i = 0; i < list->count; i++) {
        fputs(i ? ", " : "", out);
        cw_text_put(out, CW_TEXT_JSON, list->items[i].key);
        fputs(pairs ? ": " : "", out);
        if (pairs)
            cw_text_put(out, CW_TEXT_JSON, list->items[i].value);
    }
    fputs(pairs ? "}" : "]", out);
}

static enum cw_status print(FILE *out, const void *data, struct cw_error *err)
{
    const struct cw_node_facts *f = data;
    (void)err;
    fputs("{\n  \"schema\": 1,\n  \"devices\": [", out);
    for (uint32_t i = 0; i < f->count; i++) {
        const struct gpu_facts *gpu = &f->gpus[i];
        fprintf(out, "%s\n    {\"device\": %" PRIu32 ", \"chip\": ", i ? "," : "", gpu->number);
        cw_text_put(out, CW_TEXT_JSON, gpu->chip);
        if (gpu->attributes.count)
            print_list(out, "attributes", &gpu->attributes);
        print_list(out, "does", &gpu->does);
        if (gpu->units_known)
            print_list(out, "lacks", &gpu->lacks);
        fputs("}", out);
    }
    fputs("\n  ]\n}\n", out);
    return CW_OK;
}

enum cw_status cw_node_facts_write(const struct cw_node_facts *f, const char *path, struct cw_error *err)
{
    if (f->out_of_memory)
        return cw_error_nomem(err);
    if (!f->count)
        return cw_error_set(err, CW_ERR_DEVICE, "%s: not written: found no GPU to describe", path);
    return cw_file_print(path, print, f, err);
}
