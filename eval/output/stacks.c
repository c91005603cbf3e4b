#define _GNU_SOURCE
#include "eval/output/stacks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "eval/output/output.h"

/* ns of one range at most, so that the sum of all ranges stays finite. */
#define MOST_WEIGHT 1e19

enum { PLACE_SIZE = 64, SAMPLE_FRAMES = 3 };

struct frame {
    const char *text;
    size_t length;
    const char *file;      /* of a source line, else "" */
    uint32_t line, number; /* number: speedscope's */
};

struct stack {
    size_t first; /* of its frames */
    uint32_t count, device;
    const char *rank;
    double weight;
};

struct stacks {
    struct stack *list;
    size_t count, frame_count, frame_room;
    struct frame *frames;
    struct cw_arena *arena; /* of all that is here */
    bool enough;
    bool nested; /* ranges of users, in which others may lie */
    bool apart;  /* stacks of two devices or ranks are two */
};

static void add_frame(struct stacks *s, const char *text, size_t length)
{
    if (!length) {
        text = CW_TEXT_NO_NAME;
        length = strlen(text);
    }
    if (s->frame_count == s->frame_room) {
        const size_t room = 2 * s->frame_room + 256;
        struct frame *more = s->enough ? realloc(s->frames, room * sizeof *more) : NULL;
        s->enough = more != NULL;
        if (!more)
            return;
        s->frames = more;
        s->frame_room = room;
    }
    s->frames[s->frame_count++] = (struct frame){.text = text, .length = length, .file = ""};
    s->list[s->count].count++;
}

static void begin_stack(struct stacks *s, uint32_t device, const char *rank, double weight)
{
    s->list[s->count] = (struct stack){s->frame_count, 0, device, rank ? rank : "", weight};
}

/* Adds "outer/inner" and the kernel; a user range's path ends in its name already. */
static void add_range(struct stacks *s, const struct cw_groups *g, uint32_t i)
{
    const struct cw_range *r = cw_launch_of(&g->data, i);
    const char *path = cw_range_attribute(r, "nvtx");
    begin_stack(s, r->device, cw_range_attribute(r, "rank"), g->items[i].total);
    for (const char *at = path; at && *at && s->enough;) {
        const size_t length = strcspn(at, "/");
        if (length)
            add_frame(s, at, length);
        at += length + (at[length] == '/');
    }
    s->nested = s->nested || !r->kernel[0];
    if (r->kernel[0] || !s->list[s->count].count)
        add_frame(s, g->items[i].name, strlen(g->items[i].name));
    s->count++;
}

static void add_sample(struct stacks *s, const struct cw_pc_row *row)
{
    const char *slash = strrchr(row->at.file, '/');
    char reason[CW_REASON_SIZE];
    const char *place = row->at.line
                            ? cw_arena_printf(s->arena, "%s:%" PRIu32, slash ? slash + 1 : row->at.file, row->at.line)
                            : cw_arena_printf(s->arena, "0x%05" PRIx64, row->at.offset);
    const char *why = cw_arena_strdup(s->arena, cw_reason_short(row->reason, reason));
    s->enough = s->enough && place && why;
    if (!s->enough)
        return;
    begin_stack(s, 0, NULL, (double)row->samples);
    add_frame(s, row->at.name, strlen(row->at.name));
    add_frame(s, place, strlen(place));
    if (row->at.line && s->enough) {
        s->frames[s->frame_count - 1].file = row->at.file;
        s->frames[s->frame_count - 1].line = row->at.line;
    }
    add_frame(s, why, strlen(why));
    s->count++;
}

static int compare_frames(const struct frame *a, const struct frame *b)
{
    const size_t least = a->length < b->length ? a->length : b->length;
    int order = a->text == b->text ? 0 : memcmp(a->text, b->text, least);
    order = order ? order : (a->length > b->length) - (a->length < b->length);
    return order ? order : strcmp(a->file, b->file);
}

/* Of the frames that both have. */
static int compare_common(const struct stacks *s, const struct stack *a, const struct stack *b)
{
    int order = s->apart ? (a->device > b->device) - (a->device < b->device) : 0;
    order = s->apart && !order ? strcmp(a->rank, b->rank) : order;
    for (uint32_t i = 0; i < a->count && i < b->count && !order; i++)
        order = compare_frames(&s->frames[a->first + i], &s->frames[b->first + i]);
    return order;
}

static int compare_stacks(const struct stacks *s, const struct stack *a, const struct stack *b)
{
    const int order = compare_common(s, a, b);
    return order ? order : (a->count > b->count) - (a->count < b->count);
}

static int by_stack(const void *a, const void *b, void *stacks)
{
    return compare_stacks(stacks, a, b);
}

/* Of a range, flame graphs want the time that is in none of the ranges within it. In sorted stacks these follow it. */
static void take_out_inner(struct stacks *s)
{
    size_t *outer = calloc(s->count + 1, sizeof *outer), depth = 0;
    double *own = calloc(s->count + 1, sizeof *own);
    s->enough = s->enough && outer && own;
    for (size_t i = 0; i < s->count && s->enough; i++) {
        own[i] += s->list[i].weight;
        while (depth && compare_common(s, &s->list[outer[depth - 1]], &s->list[i]) != 0)
            depth--;
        if (depth)
            own[outer[depth - 1]] -= s->list[i].weight;
        outer[depth++] = i;
    }
    for (size_t i = 0; i < s->count && s->enough; i++)
        s->list[i].weight = own[i] > 0 ? own[i] : 0;
    free(outer);
    free(own);
}

/* Equal stacks become one. */
static void fold(struct stacks *s, bool apart)
{
    size_t count = 0;
    s->apart = apart;
    if (s->count)
        qsort_r(s->list, s->count, sizeof *s->list, by_stack, s);
    for (size_t i = 0; i < s->count; i++)
        if (count && compare_stacks(s, &s->list[count - 1], &s->list[i]) == 0)
            s->list[count - 1].weight += s->list[i].weight;
        else
            s->list[count++] = s->list[i];
    s->count = count;
}

/* Whether the range's time is known and possible. */
static bool is_timed(const struct cw_group *range)
{
    return range->timed && range->total >= 0 && range->total <= MOST_WEIGHT;
}

uint32_t cw_stacks_left_out(const struct cw_groups *ranges)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ranges->count; i++)
        count += !is_timed(&ranges->items[i]);
    return count;
}

/* A stack has its own weight; user ranges are sorted. */
static enum cw_status make_stacks(struct stacks *s, const struct cw_stacks_output *o, struct cw_error *err)
{
    const size_t room = o->ranges ? o->ranges->count : o->samples->pc_count;
    *s = (struct stacks){.list = calloc(room + 1, sizeof *s->list), .arena = cw_arena_create()};
    s->enough = s->list && s->arena;
    for (uint32_t i = 0; o->ranges && i < o->ranges->count && s->enough; i++)
        if (is_timed(&o->ranges->items[i]))
            add_range(s, o->ranges, i);
    for (size_t i = 0; !o->ranges && i < o->samples->pc_count && s->enough; i++)
        add_sample(s, &o->samples->pc[i]);
    if (s->nested) {
        fold(s, true);
        take_out_inner(s);
    }
    return s->enough ? CW_OK : cw_error_nomem(err);
}

static void free_stacks(struct stacks *s)
{
    free(s->list);
    free(s->frames);
    cw_arena_destroy(s->arena);
}

/* Prints the text of a frame as text of a kind. */
static bool put_text(FILE *out, enum cw_text_kind kind, const struct frame *frame)
{
    char *text = strndup(frame->text, frame->length);
    const bool good = text;
    if (good)
        cw_text_put(out, kind, text);
    free(text);
    return good;
}

enum cw_status cw_folded_write(FILE *out, const void *output, struct cw_error *err)
{
    struct stacks s;
    enum cw_status status = make_stacks(&s, output, err);
    for (size_t i = 0; i < s.frame_count; i++)
        s.frames[i].file = ""; /* lines have texts alone */
    if (status == CW_OK)
        fold(&s, false);
    for (size_t i = 0; status == CW_OK && i < s.count; i++) {
        const struct stack *stack = &s.list[i];
        for (uint32_t f = 0; f < stack->count && status == CW_OK; f++) {
            fputs(f ? ";" : "", out);
            status = put_text(out, CW_TEXT_FRAME, &s.frames[stack->first + f]) ? CW_OK : cw_error_nomem(err);
        }
        cw_text_print(out, " %.0f\n", stack->weight);
    }
    free_stacks(&s);
    return status;
}

/* ---- speedscope ------------------------------------------------------------------------------------------------- */

static int by_frame(const void *a, const void *b)
{
    return compare_frames(*(const struct frame *const *)a, *(const struct frame *const *)b);
}

/* Numbers equal frames alike and writes the list of them. */
static enum cw_status put_frames(struct stacks *s, FILE *out, struct cw_error *err)
{
    struct frame **sorted = calloc(s->frame_count + 1, sizeof *sorted);
    enum cw_status status = sorted ? CW_OK : cw_error_nomem(err);
    for (size_t i = 0; sorted && i < s->frame_count; i++)
        sorted[i] = &s->frames[i];
    if (sorted && s->frame_count)
        qsort(sorted, s->frame_count, sizeof *sorted, by_frame);
    uint32_t number = 0;
    for (size_t i = 0; status == CW_OK && i < s->frame_count; i++) {
        const bool next = !i || compare_frames(sorted[i - 1], sorted[i]) != 0;
        sorted[i]->number = next ? number++ : number - 1;
        if (!next)
            continue;
        fputs(i ? ",\n  {\"name\": " : "\n  {\"name\": ", out);
        status = put_text(out, CW_TEXT_JSON, sorted[i]) ? CW_OK : cw_error_nomem(err);
        if (*sorted[i]->file) {
            fputs(", \"file\": ", out);
            cw_text_put(out, CW_TEXT_JSON, sorted[i]->file);
            cw_text_print(out, ", \"line\": %" PRIu32, sorted[i]->line);
        }
        putc('}', out);
    }
    free(sorted);
    return status;
}

static void put_profile(const struct stacks *s, const char *name, bool time, uint32_t device, bool begun, FILE *out)
{
    double end = 0;
    bool any = false;
    for (size_t i = 0; i < s->count; i++)
        end += s->list[i].device == device ? s->list[i].weight : 0;
    cw_text_print(out,
                  "%s\n  {\"type\": \"sampled\", \"unit\": \"%s\", \"startValue\": 0, \"endValue\": %.17g, \"name\": ",
                  begun ? "," : "", time ? "nanoseconds" : "none", end);
    cw_text_put(out, CW_TEXT_JSON, name);
    fputs(",\n   \"samples\": [", out);
    for (size_t i = 0; i < s->count; i++) {
        const struct stack *stack = &s->list[i];
        if (stack->device != device)
            continue;
        fputs(any ? ", " : "", out);
        any = true;
        for (uint32_t f = 0; f < stack->count; f++)
            cw_text_print(out, f ? ", %" PRIu32 : "[%" PRIu32, s->frames[stack->first + f].number);
        putc(']', out);
    }
    fputs("],\n   \"weights\": [", out);
    any = false;
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].device == device) {
            cw_text_print(out, any ? ", %.17g" : "%.17g", s->list[i].weight);
            any = true;
        }
    fputs("]}", out);
}

static void put_devices(const struct stacks *s, const struct cw_counter_data *d, FILE *out)
{
    bool begun = false;
    for (uint32_t device = 0; device < d->device_count; device++) {
        const char *model = cw_device_attribute(&d->devices[device], "name");
        char name[256];
        cw_text_format(name, sizeof name, "device %" PRIu32 " %s", d->devices[device].index, model ? model : "");
        bool any = false;
        for (size_t i = 0; i < s->count && !any; i++)
            any = s->list[i].device == device;
        if (any)
            put_profile(s, name, true, device, begun, out);
        begun = begun || any;
    }
}

enum cw_status cw_speedscope_write(FILE *out, const void *output, struct cw_error *err)
{
    const struct cw_stacks_output *o = output;
    struct stacks s;
    enum cw_status status = make_stacks(&s, o, err);
    if (status == CW_OK && !o->ranges)
        fold(&s, false);
    fputs("{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\", \"exporter\": \"counterworks\", "
          "\"name\": ",
          out);
    cw_text_put(out, CW_TEXT_JSON, o->source);
    fputs(",\n \"shared\": {\"frames\": [", out);
    if (status == CW_OK)
        status = put_frames(&s, out, err);
    fputs("]},\n \"profiles\": [", out);
    if (status == CW_OK && o->ranges)
        put_devices(&s, &o->ranges->data, out);
    else if (status == CW_OK)
        put_profile(&s, "PC samples", false, 0, false, out);
    fputs("]}\n", out);
    free_stacks(&s);
    return status;
}
