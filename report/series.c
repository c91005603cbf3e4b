#include "report/series.h"

#include <math.h>
#include <stdlib.h>

#include "report/put.h"

enum { MISSING = UINT16_MAX };

struct bounds {
    double low, high;
};

static const struct bounds nothing = {INFINITY, -INFINITY};

static void widen(struct bounds *b, double value)
{
    b->low = value < b->low ? value : b->low;
    b->high = value > b->high ? value : b->high;
}

/* Halves avoid an overflow: the difference of two large numbers may be infinite. */
static uint16_t shorten(double value, const struct bounds *all)
{
    const double scale = isfinite(all->high - all->low) ? 1 : 0.5, low = all->low * scale;
    return all->high > all->low ? (uint16_t)((value * scale - low) / (all->high * scale - low) * (MISSING - 1) + 0.5)
                                : 0;
}

static uint32_t points_of(uint32_t count, uint32_t per)
{
    return count / per + (count % per != 0);
}

uint32_t cw_series_per(uint32_t count, uint32_t series, uint32_t bytes)
{
    const uint64_t all = (uint64_t)count * (4 + 2 * series), reduced = (uint64_t)count * (4 + 4 * series);
    return all <= bytes ? 1 : (uint32_t)((reduced + bytes - 1) / bytes);
}

/* Times of a damaged capture may lie outside the span: they go to its edge. */
static uint32_t place_of(uint64_t time, uint64_t start, uint64_t end)
{
    if (time <= start || end <= start)
        return 0;
    return time >= end ? UINT32_MAX : (uint32_t)((double)(time - start) / (double)(end - start) * UINT32_MAX);
}

bool cw_series_put_times(FILE *out, const uint64_t *times, uint32_t count, uint32_t per, uint64_t start, uint64_t end)
{
    const uint32_t points = points_of(count, per);
    uint32_t *parts = calloc((size_t)points + 1, sizeof *parts);
    for (uint32_t p = 0; parts && p < points; p++)
        parts[p] = place_of(times[(size_t)p * per], start, end);
    if (parts)
        cw_put_bytes(out, ",\"time\":", parts, points * sizeof *parts);
    free(parts);
    return parts != NULL;
}

bool cw_series_put(FILE *out, const char *before, const struct cw_series *s)
{
    const uint32_t width = s->per > 1 ? 2 : 1, points = points_of(s->count, s->per);
    uint16_t *data = calloc((size_t)points * width + 1, sizeof *data);
    struct bounds all = nothing;
    double sum = 0;
    uint32_t known = 0;
    for (uint32_t i = 0; data && i < s->count; i++)
        if (isfinite(s->values[i])) {
            widen(&all, s->values[i]);
            sum += s->values[i];
            known++;
        }
    for (uint32_t p = 0; data && p < points; p++) {
        struct bounds b = nothing;
        for (uint32_t i = p * s->per; i < s->count && i - p * s->per < s->per; i++)
            if (isfinite(s->values[i]))
                widen(&b, s->values[i]);
        data[(size_t)p * width] = b.low <= b.high ? shorten(b.low, &all) : MISSING;
        data[(size_t)p * width + width - 1] = b.low <= b.high ? shorten(b.high, &all) : MISSING;
    }
    if (data) {
        fputs(before, out);
        cw_put_text(out, "{\"name\":", s->name);
        cw_put_text(out, ",\"unit\":", s->unit);
        cw_put_number(out, ",\"low\":", all.low);
        cw_put_number(out, ",\"high\":", all.high);
        cw_put_number(out, ",\"mean\":", sum / known);
        cw_put_bytes(out, ",\"data\":", data, (size_t)points * width * sizeof *data);
        fputs("}", out);
    }
    free(data);
    return data != NULL;
}
