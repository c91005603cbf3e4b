#include "image/range_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- chunks ----------------------------------------------------------------------------------------------------- */

static enum cw_status hold(struct cw_range_part *part, struct cw_chunk *to, const struct cw_chunk *chunk,
                           struct cw_error *err)
{
    if (chunk->size > part->capacity) {
        uint8_t *grown = realloc(part->data, chunk->size);
        if (!grown)
            return cw_error_nomem(err);
        part->data = grown;
        part->capacity = chunk->size;
    }
    *to = *chunk;
    if (chunk->size)
        memcpy(part->data, chunk->payload, chunk->size);
    to->payload = part->data;
    return CW_OK;
}

enum cw_status cw_range_parts_take(struct cw_range_parts *p, const struct cw_chunk *chunk, bool *taken,
                                   struct cw_error *err)
{
    struct cw_chunk *const to[] = {&p->about, &p->repeated, &p->facts};
    static const uint32_t types[] = {CW_CHUNK_ABOUT, CW_CHUNK_REPEATED, CW_CHUNK_FACTS};
    *taken = false;
    if (!p->any)
        p->start = chunk->place;
    for (int i = 0; i < 3; i++)
        if (chunk->type == types[i] && chunk->flags == CW_CHUNK_OPTIONAL) {
            *taken = p->any = true;
            return hold(&p->held[i], to[i], chunk, err);
        }
    return CW_OK;
}

void cw_range_parts_clear(struct cw_range_parts *p)
{
    p->about = p->repeated = p->facts = (struct cw_chunk){0};
    p->any = false;
}

void cw_range_parts_free(struct cw_range_parts *p)
{
    for (int i = 0; i < 3; i++)
        free(p->held[i].data);
    *p = (struct cw_range_parts){0};
}

/* ---- launches --------------------------------------------------------------------------------------------------- */

size_t cw_range_head_size(const struct cw_chunk *range)
{
    enum { BEHIND_NAMES = 4 + 4 + 8 + 8 + 12 + 12 };
    struct cw_reader in;
    cw_reader_quiet(&in, range->payload, range->size);
    cw_read_bytes(&in, cw_read_u32(&in));
    cw_read_bytes(&in, cw_read_u32(&in));
    cw_read_bytes(&in, BEHIND_NAMES);
    return in.status == CW_OK ? in.pos : 0;
}

void cw_range_read_head(struct cw_range *range, size_t *device_at, struct cw_reader *in, struct cw_arena *arena)
{
    range->name = cw_read_string(in, arena);
    range->kernel = cw_read_string(in, arena);
    *device_at = in->pos;
    range->device = cw_read_u32(in);
    range->process = cw_read_u32(in);
    range->context = cw_read_u64(in);
    range->stream = cw_read_u64(in);
    for (int i = 0; i < 3; i++)
        range->grid[i] = cw_read_u32(in);
    for (int i = 0; i < 3; i++)
        range->block[i] = cw_read_u32(in);
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* A NaN among the instances makes every rollup NaN. */
static void read_instances(struct cw_reader *in, double rollup[CW_ROLLUP_COUNT])
{
    uint32_t count = cw_read_count(in, 8, "instances");
    if (count == 0)
        cw_reader_fail_at(in, in->pos - 4, "found a value of 0 instances, expected at least 1");
    if (in->status != CW_OK)
        return;
    double first = cw_read_f64(in), sum = first, min = first, max = first;
    for (uint32_t i = 1; i < count; i++) {
        double value = cw_read_f64(in);
        sum += value;
        min = value < min || isnan(value) ? value : min;
        max = value > max || isnan(value) ? value : max;
    }
    rollup[CW_SUM] = sum;
    rollup[CW_AVG] = sum / count;
    rollup[CW_MIN] = min;
    rollup[CW_MAX] = max;
}

static enum cw_value_form read_value(struct cw_reader *in, double rollup[CW_ROLLUP_COUNT])
{
    enum cw_value_form form = (enum cw_value_form)cw_field_read_enum(in, CW_FORM__COUNT, "form", "a form below 8");
    if (form == CW_FORM_ROLLUPS || form == CW_FORM_OVERFLOW || form == CW_FORM_INCOMPLETE) {
        cw_read_f64s(in, rollup, CW_ROLLUP_COUNT);
        return form;
    }
    double all = form == CW_FORM_ZERO ? 0.0 : form == CW_FORM_ONE ? cw_read_f64(in) : NAN;
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        rollup[r] = all;
    if (form == CW_FORM_INSTANCES)
        read_instances(in, rollup);
    return form;
}

/* Bytes of a value with its form, if the form determines them; else 0. */
static const uint8_t sizes[CW_FORM__COUNT] = {[CW_FORM_NOT_COLLECTED] = 1, [CW_FORM_UNAVAILABLE] = 1,
                                              [CW_FORM_ZERO] = 1,          [CW_FORM_ONE] = 9,
                                              [CW_FORM_ROLLUPS] = 33,      [CW_FORM_OVERFLOW] = 33,
                                              [CW_FORM_INCOMPLETE] = 33};

void cw_range_skip_values(struct cw_reader *in, uint32_t count)
{
    double rollup[CW_ROLLUP_COUNT];
    for (uint32_t c = 0; c < count && in->status == CW_OK; c++) {
        const size_t left = in->size - in->pos;
        const uint8_t form = left ? in->data[in->pos] : CW_FORM__COUNT;
        if (form < CW_FORM__COUNT && sizes[form] && sizes[form] <= left)
            in->pos += sizes[form];
        else
            read_value(in, rollup);
    }
}

void cw_range_read_values(struct cw_reader *in, uint32_t count, uint8_t *forms, double *const rollups[CW_ROLLUP_COUNT],
                          size_t at, size_t stride)
{
    double rollup[CW_ROLLUP_COUNT];
    for (uint32_t c = 0; c < count && in->status == CW_OK; c++, at += stride) {
        forms[at] = (uint8_t)read_value(in, rollup);
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            rollups[r][at] = rollup[r];
    }
}
