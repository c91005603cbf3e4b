#include "eval/output/interns.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/arena.h"

static bool is_text(const void *texts, uint32_t item, const void *text)
{
    return strcmp(((const char *const *)texts)[item], text) == 0;
}

uint64_t cw_interns_number(struct cw_interns *in, const char *text, bool *added)
{
    const uint32_t count = in->table.count;
    const char **texts = cw_grown(in->texts, &in->room, count, sizeof *texts);
    in->texts = texts ? texts : in->texts;
    const uint32_t item =
        texts ? cw_hash_table_add(&in->table, XXH3_64bits(text, strlen(text)), is_text, texts, text) : CW_NO_ITEM;
    in->nomem = in->nomem || item == CW_NO_ITEM;
    *added = item == count;
    if (*added)
        texts[item] = text;
    return item == CW_NO_ITEM ? 0 : item + 1;
}

void cw_interns_free(struct cw_interns *in)
{
    free(in->texts);
    cw_hash_table_free(&in->table);
    *in = (struct cw_interns){0};
}
