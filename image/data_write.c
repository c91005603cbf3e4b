#include <math.h>
#include <string.h>

#include "image/counter_data.h"
#include "image/data_chunks.h"
#include "image/fields.h"

void cw_counter_data_write_device(const struct cw_schema *schema, const struct cw_device *device, struct cw_writer *out)
{
    size_t start = cw_chunk_begin(out, CW_CHUNK_DEVICE, 0);
    cw_write_u32(out, device->index);
    cw_field_write_pairs(out, device->attributes, device->attribute_count);
    for (uint32_t i = 0; i < schema->counter_count; i++) {
        cw_write_u32(out, device->facts[i].instances);
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            cw_write_f64(out, device->facts[i].peak[r]);
    }
    cw_chunk_end(out, start);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool all_bits(const double *values, uint32_t count, uint64_t bits)
{
    for (uint32_t i = 0; i < count; i++)
        if (bits_of(values[i]) != bits)
            return false;
    return true;
}

/* Chooses the shortest form that reads back as the same rollups, bit for bit. -0.0 is not zero here. */
static enum cw_value_form choose_form(const struct cw_value *value)
{
    switch (value->form) {
    case CW_FORM_ONE:
        return bits_of(value->rollup[CW_SUM]) == 0 ? CW_FORM_ZERO : CW_FORM_ONE;
    case CW_FORM_ROLLUPS:
        if (all_bits(value->rollup, CW_ROLLUP_COUNT, 0))
            return CW_FORM_ZERO;
        return all_bits(value->rollup, CW_ROLLUP_COUNT, bits_of(value->rollup[0])) ? CW_FORM_ONE : CW_FORM_ROLLUPS;
    case CW_FORM_INSTANCES:
        if (value->instance_count == 0)
            return CW_FORM_NOT_COLLECTED;
        if (all_bits(value->instances, value->instance_count, 0))
            return CW_FORM_ZERO;
        return value->instance_count == 1 ? CW_FORM_ONE : CW_FORM_INSTANCES;
    default:
        return value->form;
    }
}

static void write_value(const struct cw_value *value, struct cw_writer *out)
{
    enum cw_value_form form = choose_form(value);
    cw_write_u8(out, (uint8_t)form);
    switch (form) {
    case CW_FORM_ONE:
        cw_write_f64(out, value->form == CW_FORM_INSTANCES ? value->instances[0] : value->rollup[CW_SUM]);
        break;
    case CW_FORM_ROLLUPS:
    case CW_FORM_OVERFLOW:
    case CW_FORM_INCOMPLETE:
        for (int r = 0; r < CW_ROLLUP_COUNT; r++)
            cw_write_f64(out, value->rollup[r]);
        break;
    case CW_FORM_INSTANCES:
        cw_write_u32(out, value->instance_count);
        for (uint32_t i = 0; i < value->instance_count; i++)
            cw_write_f64(out, value->instances[i]);
        break;
    default:
        break;
    }
}

void cw_counter_data_write_range(const struct cw_schema *schema, const struct cw_range *range,
                                 const struct cw_value *values, struct cw_writer *out)
{
    size_t start;
    if (range->attribute_count) {
        start = cw_chunk_begin(out, CW_CHUNK_ABOUT, CW_CHUNK_OPTIONAL);
        cw_field_write_pairs(out, range->attributes, range->attribute_count);
        cw_chunk_end(out, start);
    }
    if (schema->repeat_count) {
        start = cw_chunk_begin(out, CW_CHUNK_REPEATED, CW_CHUNK_OPTIONAL);
        for (uint32_t i = schema->counter_count; i < cw_schema_columns(schema); i++)
            write_value(&values[i], out);
        cw_chunk_end(out, start);
    }
    if (range->facts)
        cw_facts_write(range->facts, schema->fact_count, out);
    start = cw_chunk_begin(out, CW_CHUNK_RANGE, 0);
    cw_write_string(out, range->name);
    cw_write_string(out, range->kernel);
    cw_write_u32(out, range->device);
    cw_write_u32(out, range->process);
    cw_write_u64(out, range->context);
    cw_write_u64(out, range->stream);
    for (int i = 0; i < 3; i++)
        cw_write_u32(out, range->grid[i]);
    for (int i = 0; i < 3; i++)
        cw_write_u32(out, range->block[i]);
    cw_write_u64(out, range->start_ns);
    cw_write_u64(out, range->end_ns);
    for (uint32_t i = 0; i < schema->pass_count; i++)
        cw_write_f64(out, range->durations ? range->durations[i] : NAN);
    for (uint32_t i = 0; i < schema->counter_count; i++)
        write_value(&values[i], out);
    cw_chunk_end(out, start);
}

void cw_counter_data_write_end(uint64_t ranges, uint64_t dropped, enum cw_capture_end how, uint32_t code,
                               struct cw_writer *out)
{
    size_t start = cw_chunk_begin(out, CW_CHUNK_END, 0);
    cw_write_u64(out, ranges);
    cw_write_u64(out, dropped);
    cw_write_u8(out, (uint8_t)how);
    cw_write_u32(out, code);
    cw_chunk_end(out, start);
}
