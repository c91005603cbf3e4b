#define _GNU_SOURCE
#include "agent/output/range_output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_name.h"
#include "base/progress.h"
#include "base/text.h"

struct cw_output_device {
    struct cw_device device; /* without the rank, which its ranges have */
    struct cw_device_facts *facts;
    uint32_t facts_known; /* number of known facts so far */
    cw_steady_texts steady;
    uint32_t reports; /* number of reports on the steady state so far */
};

struct cw_output_file {
    char *path;
    struct cw_collector out;
    struct cw_file_devices numbers;
    struct {
        uint64_t at;                 /* offset in the file */
        uint32_t known;              /* number of facts and reports at that time */
    } written[CW_MOST_FILE_DEVICES]; /* for each device of the capture */
};

/* ---- files ------------------------------------------------------------------------------------------------------ */

static enum cw_status open_file(struct cw_range_output *o, const struct cw_file_name_parts *parts, uint32_t *index,
                                struct cw_error *err)
{
    char *path;
    enum cw_status status = cw_file_name(&path, o->pattern, parts, err);
    if (status != CW_OK)
        return status;
    for (*index = 0; *index < o->file_count; ++*index)
        if (strcmp(o->files[*index]->path, path) == 0) {
            free(path);
            return CW_OK;
        }
    bool full = o->file_count == CW_MOST_FILES;
    struct cw_output_file *file = full ? NULL : calloc(1, sizeof *file);
    if (!file) {
        free(path);
        return full
                   ? cw_error_set(err, CW_ERR_IO,
                                  "cannot keep another file open beside the %" PRIu32 " of this capture", o->file_count)
                   : cw_error_nomem(err);
    }
    file->path = path;
    file->out.fd = -1;
    o->files[o->file_count++] = file;
    return cw_collector_open(&file->out, path, o->force, o->schema, err);
}

static enum cw_status open_file_of(struct cw_range_output *o, const struct cw_range_source *source, uint32_t *index,
                                   struct cw_error *err)
{
    const struct cw_file_name_parts parts = {cw_device_attribute(source->device, "host"),
                                             cw_device_attribute(source->device, "rank"), source->process};
    return open_file(o, &parts, index, err);
}

/* ---- devices ---------------------------------------------------------------------------------------------------- */

static bool copy_device(struct cw_range_output *o, struct cw_output_device *to, const struct cw_device *from)
{
    to->device = *from;
    to->facts = cw_arena_alloc(o->arena, o->schema->counter_count, sizeof *to->facts);
    to->device.facts = to->facts;
    const bool filtered = o->filter && *o->filter;
    struct cw_pair *copy = cw_pairs_copy(from->attributes, from->attribute_count, o->arena);
    struct cw_pair *pairs =
        cw_arena_alloc(o->arena, (size_t)from->attribute_count + 1 + CW_STEADY_ATTRIBUTES, sizeof *pairs);
    to->device.attributes = pairs;
    to->device.attribute_count = 0;
    for (uint32_t i = 0; copy && pairs && i < from->attribute_count; i++)
        if (!cw_pair_is_rank(copy[i].key)) /* belongs to the process: its ranges have it */
            pairs[to->device.attribute_count++] = copy[i];
    if (pairs && filtered)
        pairs[to->device.attribute_count++] = (struct cw_pair){"filter", o->filter};
    if (pairs && o->steady) {
        cw_steady_attributes(pairs + to->device.attribute_count, to->steady, NULL);
        to->device.attribute_count += CW_STEADY_ATTRIBUTES;
    }
    return to->facts && copy && pairs;
}

/* Finds the device among the capture's devices, and adds the facts that this run or pass gives for its counters. */
static enum cw_status find_device(struct cw_range_output *o, const struct cw_device *device, uint32_t *index,
                                  struct cw_error *err)
{
    uint32_t number;
    bool is_new;
    if (!cw_file_devices_find(&o->known, device, &number, &is_new))
        return cw_error_set(err, CW_ERR_INPUT, "found ranges of more than %d GPUs, expected no more",
                            CW_MOST_FILE_DEVICES);
    for (*index = 0; o->known.devices[*index].number != number; ++*index)
        ;
    struct cw_output_device *found = &o->devices[*index];
    if (is_new && !copy_device(o, found, device)) {
        cw_file_devices_forget(&o->known);
        return cw_error_nomem(err);
    }
    for (uint32_t i = 0; device->facts && i < o->schema->counter_count; i++)
        if (!found->facts[i].instances) {
            found->facts[i] = device->facts[i];
            found->facts_known += found->facts[i].instances != 0;
        }
    return CW_OK;
}

/* ---- ranges ----------------------------------------------------------------------------------------------------- */

/* Gives the range its own list of attributes, which the caller frees, with additional pairs that have a value. False
 * when out of memory. */
static bool add_attributes(struct cw_range *range, const struct cw_pair *more, uint32_t count)
{
    struct cw_pair *pairs = calloc((size_t)range->attribute_count + count, sizeof *pairs);
    if (!pairs)
        return false;
    for (uint32_t i = 0; i < range->attribute_count; i++)
        pairs[i] = range->attributes[i];
    for (uint32_t i = 0; i < count; i++)
        if (more[i].value)
            pairs[range->attribute_count++] = more[i];
    range->attributes = pairs;
    return true;
}

/* Writes the device in front of its range, with the facts known so far: the next pass may add more. Processes may
 * number the same devices differently; the file has one number for each. */
static enum cw_status write_device(const struct cw_range_output *o, struct cw_output_file *file, uint32_t of,
                                   uint32_t *number, struct cw_error *err)
{
    struct cw_device device = o->devices[of].device;
    bool is_new;
    cw_file_devices_find(&file->numbers, &device, number, &is_new); /* has room for all devices of the capture */
    device.index = *number;
    uint64_t at = is_new ? file->out.size : file->written[of].at;
    uint32_t known = o->devices[of].facts_known + o->devices[of].reports;
    if (!is_new && file->written[of].known == known)
        return CW_OK;
    const enum cw_status status = is_new ? cw_collector_device(&file->out, &device, err)
                                         : cw_collector_device_again(&file->out, at, &device, err);
    if (status == CW_OK) {
        file->written[of].at = at;
        file->written[of].known = known;
    } else if (is_new) {
        cw_file_devices_forget(&file->numbers);
    }
    return status;
}

static enum cw_status write_range(struct cw_range_output *o, struct cw_output_file *file, const struct cw_range *range,
                                  const struct cw_value *values, struct cw_error *err)
{
    struct cw_range mine = *range;
    enum cw_status status = write_device(o, file, range->device, &mine.device, err);
    if (status == CW_OK)
        status = cw_collector_range(&file->out, &mine, values, err);
    o->ranges += status == CW_OK;
    return status;
}

/* Reports progress to a user at a terminal. A range of a launch has a kernel. */
static void tell_progress(const struct cw_range_output *o, const struct cw_range *last)
{
    const char *one = *last->kernel ? "launch" : "range", *more = *last->kernel ? "launches" : "ranges";
    const char *what = o->arrived == 1 ? one : more;
    if (o->runs)
        cw_progress_tell(o->run - 1, o->run_count, "run %" PRIu32 " of %" PRIu32 ", %" PRIu64 " %s", o->run,
                         o->run_count, o->arrived, what);
    else
        cw_progress_tell(0, 0, "%" PRIu64 " %s in %" PRIu32 " pass%s", o->arrived, what, o->schema->pass_count,
                         o->schema->pass_count == 1 ? "" : "es");
}

enum cw_status cw_range_output_add(struct cw_range_output *o, const struct cw_range_source *source,
                                   const struct cw_range *range, const struct cw_value *values, struct cw_error *err)
{
    const char *rank = cw_device_attribute(source->device, "rank");
    const struct cw_pair place_in_job[] = {{"rank", rank}, {"ranks", cw_device_attribute(source->device, "ranks")}};
    struct cw_range mine = *range;
    uint32_t file = 0;
    if (!values && !o->runs)
        return CW_OK;
    enum cw_status status = find_device(o, source->device, &mine.device, err);
    /* under application replay a process has a new number in every run, but ranges keep the file of the first run */
    if (status == CW_OK && o->run <= o->groups)
        status = open_file_of(o, source, &file, err);
    if (status != CW_OK)
        return status;
    if (!add_attributes(&mine, place_in_job, 2))
        return cw_error_nomem(err);
    mine.process = source->process;
    if (o->runs) {
        char place[600];
        snprintf(place, sizeof place, "%s\n%s\n%" PRIu32, source->program, rank ? rank : "", mine.device);
        const struct cw_run_range one = {.place = place, .file = file, .range = mine, .values = values};
        status = cw_runs_add(o->runs, &one, err);
    } else {
        status = write_range(o, o->files[file], &mine, values, err);
    }
    free((void *)mine.attributes);
    o->arrived += values != NULL;
    tell_progress(o, range);
    return status;
}

/* Counts drops of the first run only: under application replay each run meets them again. */
enum cw_status cw_range_output_drop(struct cw_range_output *o, const struct cw_range_source *source, uint64_t count,
                                    const char *why, struct cw_error *err)
{
    uint32_t file;
    if (!count || o->run > o->groups)
        return CW_OK;
    o->dropped += count;
    if (why && *why)
        cw_tally_add(&o->why, why, count);
    enum cw_status status = open_file_of(o, source, &file, err);
    if (status == CW_OK)
        o->files[file]->out.dropped += count;
    return status;
}

enum cw_status cw_range_output_steady(struct cw_range_output *o, const struct cw_range_source *source,
                                      const struct cw_steady_report *report, struct cw_error *err)
{
    struct cw_pair pairs[CW_STEADY_ATTRIBUTES];
    uint32_t device;
    if (!o->steady)
        return CW_OK;
    enum cw_status status = find_device(o, source->device, &device, err);
    if (status != CW_OK)
        return status;
    cw_steady_attributes(pairs, o->devices[device].steady, report); /* the device has these texts */
    o->devices[device].reports++;
    return CW_OK;
}

void cw_range_output_report(struct cw_range_output *o)
{
    if (!o->dropped)
        return;
    fprintf(stderr, "capture-agent: %" PRIu64 " %s not collected%s", o->dropped,
            o->dropped == 1 ? "launch or range was" : "launches or ranges were", o->why.count ? ": " : "");
    if (o->why.count == 1)
        cw_text_print(stderr, "%s", o->why.items[0].name);
    else
        cw_tally_print(&o->why, stderr);
    fputc('\n', stderr);
}

/* ---- runs ------------------------------------------------------------------------------------------------------- */

void cw_range_output_begin(struct cw_range_output *o)
{
    if (o->runs)
        cw_runs_begin(o->runs, o->run % o->groups);
    o->run++;
    o->arrived = 0;
    if (o->runs)
        cw_progress_tell(o->run - 1, o->run_count, "run %" PRIu32 " of %" PRIu32, o->run, o->run_count);
}

void cw_range_output_compare(const struct cw_range_output *o)
{
    if (!o->runs)
        return;
    struct cw_runs_difference d = cw_runs_compare(o->runs);
    if (d.missing || d.added)
        cw_text_print(stderr,
                      "capture-agent: run %" PRIu32 " of %" PRIu32 " differs from the first: %" PRIu64
                      " range%s missing%s%.100s%s, %" PRIu64 " more%s%.100s%s; matching ranges are kept\n",
                      o->run, o->run_count, d.missing, d.missing == 1 ? "" : "s", d.missing ? " (" : "", d.missing_name,
                      d.missing ? ")" : "", d.added, d.added ? " (" : "", d.added_name, d.added ? ")" : "");
}

enum cw_status cw_range_output_flush(struct cw_range_output *o, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    uint32_t all = o->run_count / o->groups;
    for (uint32_t i = 0; status == CW_OK && o->runs && i < cw_runs_count(o->runs); i++) {
        const struct cw_run_range *r = cw_runs_get(o->runs, i);
        struct cw_range range = r->range;
        uint32_t seen = cw_runs_seen(o->runs, i);
        if (!seen)
            continue;
        char runs[64];
        snprintf(runs, sizeof runs, "%" PRIu32 " of %" PRIu32, seen, all);
        if (!add_attributes(&range, &(struct cw_pair){"runs", seen < all ? runs : NULL}, 1))
            return cw_error_nomem(err);
        status = write_range(o, o->files[r->file], &range, r->values, err);
        free((void *)range.attributes);
    }
    return status;
}

/* ---- public ----------------------------------------------------------------------------------------------------- */

enum cw_status cw_range_output_open(struct cw_range_output *o, const char *pattern, bool force,
                                    const struct cw_schema *schema, uint32_t runs, uint32_t groups,
                                    struct cw_error *err)
{
    *o = (struct cw_range_output){.pattern = pattern,
                                  .force = force,
                                  .schema = schema,
                                  .run_count = runs,
                                  .groups = groups,
                                  .arena = cw_arena_create()};
    o->runs = runs > 1 ? cw_runs_create(cw_schema_columns(schema), schema->pass_count, schema->fact_count) : NULL;
    if (!o->arena || (runs > 1 && !o->runs))
        return cw_error_nomem(err);
    o->devices = cw_arena_alloc(o->arena, CW_MOST_FILE_DEVICES, sizeof *o->devices);
    if (!o->devices)
        return cw_error_nomem(err);
    const struct cw_file_name_parts parts = {.process = (uint32_t)getpid()};
    uint32_t index;
    if (!cw_file_name_of_process(pattern))
        return open_file(o, &parts, &index, err);
    char *name;
    enum cw_status status = cw_file_name(&name, pattern, &parts, err); /* checks the pattern */
    free(name);
    return status;
}

enum cw_status cw_range_output_end(struct cw_range_output *o, const struct cw_program *program, struct cw_error *err)
{
    const struct cw_file_name_parts parts = {.process = (uint32_t)program->pid};
    uint32_t index;
    enum cw_status status = cw_range_output_flush(o, err);
    if (status == CW_OK && !o->file_count) /* a program without launches leaves a file that says so */
        status = open_file(o, &parts, &index, err);
    for (uint32_t i = 0; status == CW_OK && i < o->file_count; i++) {
        for (uint32_t of = 0; status == CW_OK && of < o->known.count; of++)
            if (o->files[i]->written[of].at)
                status = write_device(o, o->files[i], of, &index, err);
        o->files[i]->out.clocks = o->clocks;
        if (status == CW_OK)
            status = cw_collector_end(&o->files[i]->out, program->how, program->code, err);
    }
    return status;
}

void cw_range_output_close(struct cw_range_output *o)
{
    for (uint32_t i = 0; i < o->file_count; i++) {
        cw_collector_close(&o->files[i]->out);
        free(o->files[i]->path);
        free(o->files[i]);
    }
    cw_runs_destroy(o->runs);
    cw_arena_destroy(o->arena);
}
