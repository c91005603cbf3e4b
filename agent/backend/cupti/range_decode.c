#define _GNU_SOURCE
#include "agent/backend/cupti/range_decode.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/common/message.h"

/* Makes room for a copy and keeps it, because new memory costs more than the copying: for 256 MiB 0.5 s against 0.14
 * s. */
static bool make_room(struct cw_bytes *copy, size_t size)
{
    if (size <= copy->size)
        return true;
    cw_bytes_free(copy);
    copy->data = aligned_alloc(CW_MESSAGE_ALIGNMENT, size);
    copy->size = copy->data ? size : 0;
    return copy->data;
}

static bool read_all(int memory, uint8_t *to, size_t size)
{
    for (off_t at = 0; size;) {
        ssize_t n = pread(memory, to + at, size, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* Copies memory of a process. Refuses any other kind of file, where reading could block. */
static enum cw_status copy(struct cw_range_images *images, int memory, size_t size, struct cw_error *err)
{
    struct stat file;
    int seals = memory < 0 ? -1 : fcntl(memory, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(memory, &file) != 0 || file.st_size < 0 ||
        (size_t)file.st_size < size || !size || size > CW_MESSAGE_MAX)
        return cw_error_set(err, CW_ERR_INPUT,
                            "a profiled process sent no memory with its counter data, expected %zu bytes of at most %d",
                            size, CW_MESSAGE_MAX);
    if (!make_room(images->memory, size))
        return cw_error_nomem(err);
    return read_all(memory, images->memory->data, size)
               ? CW_OK
               : cw_error_set(err, CW_ERR_INPUT, "cannot read the counter data of a profiled process: %s",
                              strerror(errno));
}

static enum cw_status prepare_image(struct cw_range_image *image, struct cw_error *err)
{
    uint32_t count = image->part->plan.counter_count;
    image->counters = calloc((size_t)count + 1, sizeof *image->counters);
    for (uint32_t i = 0; image->counters && i < count; i++)
        image->counters[i].name = image->part->plan.counters[i].name;
    return image->counters ? CW_OK : cw_error_nomem(err);
}

enum cw_status cw_range_images_read(struct cw_range_images *images, const struct cw_parts *all,
                                    const struct cw_part *parts, uint32_t count, struct cw_reader *in, int memory,
                                    struct cw_error *err)
{
    uint32_t found = cw_read_u32(in), largest = 0;
    size_t size = 0;
    *images = (struct cw_range_images){.parts = all, .memory = images->memory};
    if (in->status == CW_OK && found && found != count)
        cw_reader_fail(in, "found counter data of %u parts of the plan, expected %u", found, count);
    images->items = calloc((size_t)count + 1, sizeof *images->items);
    if (!images->items)
        return cw_error_nomem(err);
    enum cw_status status = in->status;
    for (; images->count < found && status == CW_OK; images->count++) {
        struct cw_range_image *image = &images->items[images->count];
        image->part = &parts[images->count];
        largest = image->part->plan.counter_count > largest ? image->part->plan.counter_count : largest;
        image->size = cw_read_u32(in);
        image->offset = size;
        size += (image->size + CW_MESSAGE_ALIGNMENT - 1) / CW_MESSAGE_ALIGNMENT * CW_MESSAGE_ALIGNMENT;
        status = in->status == CW_OK ? prepare_image(image, err) : in->status;
    }
    if (status == CW_OK && images->count)
        status = copy(images, memory, size, err);
    for (uint32_t i = 0; i < images->count && status == CW_OK; i++)
        images->items[i].bytes = images->memory->data + images->items[i].offset;
    images->values = calloc((size_t)largest + 1, sizeof *images->values);
    images->facts = calloc((size_t)largest + 1, sizeof *images->facts);
    return status != CW_OK || (images->values && images->facts) ? status : cw_error_nomem(err);
}

enum cw_status cw_range_images_open(struct cw_range_images *images, const struct cw_nvperf *library,
                                    struct cw_error *err)
{
    for (uint32_t i = 0; i < images->count; i++) {
        struct cw_range_image *image = &images->items[i];
        CW_TRY(cw_nvperf_decoder_create(&image->decoder, library, images->parts->plan.chip, CW_NVPERF_PROFILER,
                                        image->bytes, image->size, image->counters, image->part->plan.counter_count,
                                        err));
        size_t ranges = cw_nvperf_decoder_ranges(image->decoder);
        if (i && ranges != images->ranges)
            return cw_error_set(err, CW_ERR_DEVICE,
                                "found %zu ranges in some passes and %zu in others, expected "
                                "the same launches in each",
                                images->ranges, ranges);
        images->ranges = ranges;
    }
    return CW_OK;
}

enum cw_status cw_range_images_facts(struct cw_range_images *images, struct cw_device_facts *facts,
                                     struct cw_error *err)
{
    memset(facts, 0, images->parts->schema.counter_count * sizeof *facts);
    for (uint32_t i = 0; i < images->count; i++) {
        const struct cw_part *part = images->items[i].part;
        CW_TRY(cw_nvperf_decode_facts(images->items[i].decoder, images->facts, err));
        for (uint32_t c = 0; c < part->plan.counter_count; c++) {
            uint32_t counter = cw_schema_column_counter(&images->parts->schema, part->columns[c]);
            if (!facts[counter].instances)
                facts[counter] = images->facts[c];
        }
    }
    return CW_OK;
}

static void note_durations(const struct cw_schema *schema, const struct cw_value *values, double *durations)
{
    uint32_t time = 0;
    while (time < schema->counter_count && strcmp(schema->counters[time].name, "gpu__time_duration") != 0)
        time++;
    for (uint32_t p = 0; p < schema->pass_count; p++) {
        uint32_t column = time < schema->counter_count ? cw_schema_column_in(schema, time, p) : CW_NO_COLUMN;
        bool timed = column != CW_NO_COLUMN && values[column].form == CW_FORM_ROLLUPS;
        durations[p] = timed ? values[column].rollup[CW_SUM] : NAN;
    }
}

enum cw_status cw_range_images_decode(struct cw_range_images *images, size_t range, struct cw_value *values,
                                      double *durations, struct cw_error *err)
{
    const struct cw_schema *schema = &images->parts->schema;
    enum cw_status status = CW_OK;
    for (uint32_t c = 0; c < cw_schema_columns(schema); c++)
        values[c] = (struct cw_value){.form = CW_FORM_NOT_COLLECTED};
    for (uint32_t i = 0; i < images->count && status == CW_OK; i++) {
        const struct cw_part *part = images->items[i].part;
        status = cw_nvperf_decode_range(images->items[i].decoder, range, images->values, err);
        for (uint32_t c = 0; c < part->plan.counter_count && status == CW_OK; c++)
            values[part->columns[c]] = images->values[c];
    }
    note_durations(schema, values, durations);
    return status;
}

void cw_range_images_close(struct cw_range_images *images)
{
    for (uint32_t i = 0; i < images->count; i++) {
        cw_nvperf_decoder_destroy(images->items[i].decoder);
        free(images->items[i].counters);
    }
    free(images->items);
    free(images->values);
    free(images->facts);
}
