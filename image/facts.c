/* Reads and writes the chunk RFCT: facts known about a launch without counting. */
#include <math.h>

#include "image/data_chunks.h"
#include "image/fields.h"

enum fact_form { FACTS_WHOLE, FACTS_ANY, FACTS__FORM_COUNT };
#define UNKNOWN_WHOLE INT32_MIN

static bool is_whole(double fact)
{
    return isnan(fact) ||
           (fact > UNKNOWN_WHOLE && fact <= INT32_MAX && fact == trunc(fact) && !(fact == 0 && signbit(fact)));
}

void cw_facts_write(const double *facts, uint32_t count, struct cw_writer *out)
{
    bool known = false, whole = true;
    for (uint32_t i = 0; i < count; i++) {
        known = known || !isnan(facts[i]);
        whole = whole && is_whole(facts[i]);
    }
    if (!known)
        return;
    size_t start = cw_chunk_begin(out, CW_CHUNK_FACTS, CW_CHUNK_OPTIONAL);
    cw_write_u8(out, whole ? FACTS_WHOLE : FACTS_ANY);
    for (uint32_t i = 0; i < count; i++)
        if (whole)
            cw_write_u32(out, (uint32_t)(isnan(facts[i]) ? UNKNOWN_WHOLE : (int32_t)facts[i]));
        else
            cw_write_f64(out, facts[i]);
    cw_chunk_end(out, start);
}

enum cw_status cw_facts_read(const struct cw_reader *file, const struct cw_chunk *chunk, double *facts, uint32_t count)
{
    struct cw_reader in;
    for (uint32_t i = 0; i < count; i++)
        facts[i] = NAN;
    if (!chunk->type)
        return CW_OK;
    cw_chunk_open(file, chunk, &in);
    bool whole = cw_field_read_enum(&in, FACTS__FORM_COUNT, "form", "0 (whole numbers) or 1") == FACTS_WHOLE;
    for (uint32_t i = 0; i < count && in.status == CW_OK; i++) {
        int32_t number = whole ? (int32_t)cw_read_u32(&in) : 0;
        facts[i] = !whole ? cw_read_f64(&in) : number == UNKNOWN_WHOLE ? NAN : (double)number;
    }
    return cw_chunk_finish(&in, chunk);
}
