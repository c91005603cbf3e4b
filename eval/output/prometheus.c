#include "eval/output/prometheus.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/elide.h"
#include "base/text.h"

enum own { LAUNCHES, LAUNCHES_TIMED, TIME, OWN };
static const char *const own_names[OWN] = {"launches", "launches_timed", "time_seconds"};

/* Prometheus has no other characters in names. */
static char spelt(char c)
{
    return isalnum((unsigned char)c) && (unsigned char)c < 128 ? c : '_';
}

static void put_name(FILE *out, const char *name)
{
    fputs("counterworks_", out);
    for (; *name; name++)
        putc(spelt(*name), out);
}

static int by_spelling(const void *left, const void *right)
{
    const char *a = *(const char *const *)left, *b = *(const char *const *)right;
    for (; *a && *b && spelt(*a) == spelt(*b); a++)
        b++;
    return (*a ? spelt(*a) : 0) - (*b ? spelt(*b) : 0);
}

/* A file with two metrics of one name is refused as a whole. */
static enum cw_status check_names(const struct cw_result *r, struct cw_error *err)
{
    const size_t count = r->metric_count + OWN;
    const char **names = malloc(count * sizeof *names);
    enum cw_status status = CW_OK;
    if (!names)
        return cw_error_nomem(err);
    memcpy(names, own_names, sizeof own_names);
    for (uint32_t m = 0; m < r->metric_count; m++)
        names[OWN + m] = r->names[m];
    qsort(names, count, sizeof *names, by_spelling);
    for (size_t i = 1; i < count && status == CW_OK; i++)
        if (by_spelling(&names[i - 1], &names[i]) == 0)
            status = cw_error_set(err, CW_ERR_USAGE,
                                  "found the metrics %s and %s, expected names that differ in letters or digits, as "
                                  "Prometheus has no other characters",
                                  names[i - 1], names[i]);
    free(names);
    return status;
}

static void put_type(FILE *out, const char *name)
{
    fputs("# TYPE ", out);
    put_name(out, name);
    fputs(" gauge\n", out);
}

struct writing {
    FILE *out;
    const struct cw_side *side;
    struct cw_elisions elisions; /* of labels, which each metric repeats */
};

static void put_label(struct writing *w, const char *name, const char *text)
{
    cw_text_print(w->out, "%s=", name);
    cw_text_put(w->out, CW_TEXT_LABEL, cw_elisions_text(&w->elisions, text));
}

static void put_sample(struct writing *w, const char *name, uint32_t group, double value, enum cw_value_status status)
{
    FILE *const out = w->out;
    const struct cw_side *side = w->side;
    const struct cw_counter_data *d = &side->groups.data;
    const struct cw_range *r = &d->ranges[group];
    const char *device = cw_device_attribute(&d->devices[r->device], "name");
    char text[CW_NUMBER_SIZE];
    if (isnan(value))
        return;
    put_name(out, name);
    put_label(w, "{kernel", side->groups.items[group].name);
    put_label(w, ",function", r->kernel);
    put_label(w, ",device", device ? device : "");
    if (status != CW_VALUE_OK)
        put_label(w, ",status", cw_value_status_text(status));
    if (!side->groups.items[group].several_gpus)
        cw_text_print(out, ",index=\"%" PRIu32 "\"", d->devices[r->device].index);
    cw_text_print(out,
                  ",grid=\"%" PRIu32 "x%" PRIu32 "x%" PRIu32 "\",block=\"%" PRIu32 "x%" PRIu32 "x%" PRIu32 "\"} %s\n",
                  r->grid[0], r->grid[1], r->grid[2], r->block[0], r->block[1], r->block[2],
                  isinf(value) ? (value < 0 ? "-Inf" : "+Inf") : cw_number_text(value, text));
}

static double own_value(const struct cw_group *group, enum own own)
{
    return own == LAUNCHES ? group->count : own == LAUNCHES_TIMED ? group->timed : group->total / 1e9;
}

enum cw_status cw_prometheus_write(FILE *out, const void *data, struct cw_error *err)
{
    const struct cw_side *side = data;
    struct writing w = {.out = out, .side = side};
    const struct cw_groups *g = &side->groups;
    const struct cw_result *r = &side->means;
    CW_TRY(check_names(r, err));
    for (enum own own = 0; own < OWN; own++) {
        put_type(out, own_names[own]);
        for (uint32_t k = 0; k < g->count; k++)
            put_sample(&w, own_names[own], k, own_value(&g->items[k], own), CW_VALUE_OK);
    }
    for (uint32_t m = 0; m < r->metric_count; m++) {
        put_type(out, r->names[m]);
        for (uint32_t k = 0; k < g->count; k++) {
            const size_t at = (size_t)m * r->row_count + k;
            put_sample(&w, r->names[m], k, r->values[at], (enum cw_value_status)r->statuses[at]);
        }
    }
    cw_elisions_free(&w.elisions);
    return CW_OK;
}
