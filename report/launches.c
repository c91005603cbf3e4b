#define _GNU_SOURCE
#include "report/launches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/put.h"

/* What a page holds at most: NVTX ranges, the longest first, kernels in all of them, and values of an attribute. */
enum { MOST_PATHS = 1000, MOST_PARTS = 20000, MOST_VALUES = 8 };

/* ---- how they were counted -------------------------------------------------------------------------------------- */

struct told {
    const char *key, *value;
    uint32_t ranges;
};

/* Adds one range to those of the same key and value; what has too many values has "various" for the others. */
static size_t tell(struct told *list, size_t count, const char *key, const char *value)
{
    static const char others[] = "various";
    size_t i = 0, values = 0;
    for (; i < count && (strcmp(list[i].key, key) != 0 || strcmp(list[i].value, value) != 0); i++)
        values += strcmp(list[i].key, key) == 0;
    if (i == count && values >= MOST_VALUES && strcmp(value, others) != 0)
        return tell(list, count, key, others);
    if (i == count)
        list[count++] = (struct told){key, value, 0};
    list[i].ranges++;
    return count;
}

static void put_told(FILE *out, const struct cw_report_capture *c)
{
    static const char *const keys[] = {"once", "scope", "graphs", "runs"}; /* docs/formats.md */
    struct told list[sizeof keys / sizeof *keys * (MOST_VALUES + 1)];
    size_t count = 0;
    uint32_t unwanted = 0;
    for (uint32_t i = 0; i < c->data->range_count; i++) {
        if (c->keep && !c->keep[i]) {
            unwanted++;
            continue;
        }
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            const char *value = cw_range_attribute(cw_launch_of(c->data, i), keys[k]);
            count = value ? tell(list, count, keys[k], value) : count;
        }
    }
    cw_put_count(out, ",\n\"unwanted\":", unwanted);
    fputs(",\"told\":[", out);
    for (size_t i = 0; i < count; i++) {
        cw_put_text(out, i ? ",{\"key\":" : "{\"key\":", list[i].key);
        cw_put_text(out, ",\"value\":", list[i].value);
        cw_put_count(out, ",\"ranges\":", list[i].ranges);
        fputs("}", out);
    }
    fputs("]", out);
}

/* ---- NVTX ranges ------------------------------------------------------------------------------------------------ */

struct part { /* the launches of a kernel in an NVTX range */
    const char *path;
    uint32_t kernel, launches; /* kernel: CW_NONE, one that is not shown */
    double total;
};

struct path { /* parts[first] and on */
    size_t first, count;
    double total;
};

static int by_path(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    const int order = x->path == y->path ? 0 : strcmp(x->path, y->path);
    return order ? order : (x->kernel > y->kernel) - (x->kernel < y->kernel);
}

static int by_total(const void *a, const void *b)
{
    const struct path *x = a, *y = b;
    return x->total != y->total ? (x->total < y->total) - (x->total > y->total)
                                : (x->first > y->first) - (x->first < y->first);
}

/* A part for each launch of which ranges are kept; whether any is in an NVTX range. */
static size_t list_parts(const struct cw_report_kernels *k, struct part *parts, bool *inside)
{
    const struct cw_counter_data *data = k->report->ranges->data;
    const uint32_t launches = cw_launch_count(data);
    for (uint32_t i = 0; i < launches; i++)
        parts[i] = (struct part){.kernel = CW_NONE};
    for (uint32_t i = 0; i < data->range_count; i++) {
        const uint32_t launch = cw_launch_number(data, i);
        if (k->report->ranges->keep && !k->report->ranges->keep[i])
            continue;
        const char *path = cw_range_attribute(cw_launch(data, launch), "nvtx");
        parts[launch] = (struct part){path ? path : "", k->group_of[i], 0, 0};
        *inside = *inside || path;
    }
    size_t count = 0;
    for (uint32_t i = 0; i < launches; i++)
        if (parts[i].path)
            parts[count++] = parts[i];
    return count;
}

/* Equal parts as one. Returns how many there are then. */
static size_t join(struct part *parts, size_t count)
{
    size_t made = 0;
    qsort(parts, count, sizeof *parts, by_path);
    for (size_t i = 0; i < count; i++)
        if (!made || by_path(&parts[made - 1], &parts[i]) != 0)
            parts[made++] = parts[i];
    return made;
}

static struct part *find_part(const struct cw_report_kernels *k, uint32_t launch, struct part *parts, size_t count,
                              uint32_t kernel)
{
    const char *path = cw_range_attribute(cw_launch(k->report->ranges->data, launch), "nvtx");
    const struct part key = {path ? path : "", kernel, 0, 0};
    return bsearch(&key, parts, count, sizeof *parts, by_path);
}

/* `found`: of each launch, once it was asked for. */
static void take_launches(const struct cw_report_kernels *k, struct part *parts, size_t count, struct part **found)
{
    const struct cw_counter_data *data = k->report->ranges->data;
    for (uint32_t i = 0; i < data->range_count; i++) {
        const uint32_t launch = cw_launch_number(data, i);
        const double ns = k->groups.durations[i];
        if (k->report->ranges->keep && !k->report->ranges->keep[i])
            continue;
        if (!found[launch])
            found[launch] = find_part(k, launch, parts, count, k->group_of[i]);
        found[launch]->launches++;
        found[launch]->total += isnan(ns) ? 0 : ns;
    }
}

static size_t find_paths(const struct part *parts, size_t count, struct path *paths)
{
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        if (!i || strcmp(parts[i - 1].path, parts[i].path) != 0)
            paths[made++] = (struct path){.first = i};
        paths[made - 1].count++;
        paths[made - 1].total += parts[i].total;
    }
    qsort(paths, made, sizeof *paths, by_total);
    return made;
}

static void put_path(FILE *out, const struct path *path, const struct part *parts)
{
    cw_put_text(out, "{\"path\":", parts[path->first].path);
    fputs(",\"kernels\":[", out);
    for (size_t i = path->first; i < path->first + path->count; i++) {
        fputs(i > path->first ? ",[" : "[", out);
        if (parts[i].kernel == CW_NONE)
            fputs("null", out);
        else
            cw_put_count(out, "", parts[i].kernel);
        cw_put_count(out, ",", parts[i].launches);
        cw_put_number(out, ",", parts[i].total);
        fputs("]", out);
    }
    fputs("]}", out);
}

static enum cw_status put_nvtx(FILE *out, const struct cw_report_kernels *k, struct cw_error *err)
{
    const size_t room = (size_t)cw_launch_count(k->report->ranges->data) + 1;
    struct part *parts = calloc(room, sizeof *parts), **found = calloc(room, sizeof *found);
    struct path *paths = calloc(room, sizeof *paths);
    bool inside = false;
    size_t put = 0, i = 0;
    const bool enough = parts && paths && found;
    size_t count = enough ? list_parts(k, parts, &inside) : 0;
    if (inside) {
        count = join(parts, count);
        take_launches(k, parts, count, found);
        count = find_paths(parts, count, paths);
        fputs(",\n\"nvtx\":[", out);
        for (; i < count && i < MOST_PATHS && put + paths[i].count <= MOST_PARTS; put += paths[i++].count) {
            fputs(i ? ",\n" : "\n", out);
            put_path(out, &paths[i], parts);
        }
        cw_put_count(out, "],\"nvtx_left\":", count - i);
    }
    free(found);
    free(parts);
    free(paths);
    return enough ? CW_OK : cw_error_nomem(err);
}

enum cw_status cw_report_launches_put(FILE *out, const struct cw_report_kernels *k, struct cw_error *err)
{
    put_told(out, k->report->ranges);
    return put_nvtx(out, k, err);
}
