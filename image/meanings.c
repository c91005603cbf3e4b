#include "image/meanings.h"

#include "image/fields.h"

void cw_meanings_write(const struct cw_meaning *meanings, uint32_t count, struct cw_writer *out)
{
    cw_write_u32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        cw_write_string(out, meanings[i].name);
        cw_write_u64(out, meanings[i].raws);
        cw_write_u64(out, meanings[i].formula);
    }
}

uint32_t cw_meanings_read(const struct cw_meaning **meanings, struct cw_reader *in, struct cw_arena *arena)
{
    uint32_t count = cw_read_count(in, 4 + 8 + 8, "meanings");
    struct cw_meaning *list = cw_field_array(in, arena, count, sizeof *list);
    for (uint32_t i = 0; i < count && in->status == CW_OK; i++) {
        list[i].name = cw_read_string(in, arena);
        list[i].raws = cw_read_u64(in);
        list[i].formula = cw_read_u64(in);
    }
    *meanings = list;
    return count;
}
