#include "image/rank_index.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Takes a number and the blank behind it. */
static bool take_number(char **at, uint64_t most, uint64_t *number)
{
    const char *start = *at;
    *number = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        if (__builtin_mul_overflow(*number, 10u, number) ||
            __builtin_add_overflow(*number, (uint64_t)(**at - '0'), number))
            return false;
    return *at > start && *number <= most && *(*at)++ == ' ';
}

static enum cw_status refuse(const char *source, size_t line, struct cw_error *err)
{
    enum cw_status status =
        cw_error_set(err, CW_ERR_INPUT,
                     "%s: line %zu: found another line, expected \"RANK SIZE TIME NAME\" with ranks in ascending order",
                     source, line);
    if (err)
        err->line = (int)line;
    return status;
}

enum cw_status cw_rank_index_read(struct cw_rank_index *index, char *text, size_t size, const char *source,
                                  struct cw_arena *arena, struct cw_error *err)
{
    const size_t head = sizeof CW_RANK_INDEX_HEAD - 1;
    size_t lines = 0, number = 2;
    *index = (struct cw_rank_index){0};
    if (size < head || memcmp(text, CW_RANK_INDEX_HEAD, head) != 0 || memchr(text, 0, size) || text[size - 1] != '\n')
        return refuse(source, 1, err);
    for (size_t i = head; i < size; i++)
        lines += text[i] == '\n';
    index->entries = cw_arena_alloc(arena, lines, sizeof *index->entries);
    if (!index->entries)
        return cw_error_nomem(err);
    for (char *at = text + head, *end; at < text + size; at = end + 1, number++) {
        struct cw_rank_entry *e = &index->entries[index->count];
        uint64_t rank;
        end = strchr(at, '\n');
        *end = 0;
        if (!take_number(&at, UINT32_MAX, &rank) || !take_number(&at, UINT64_MAX, &e->size) ||
            !take_number(&at, UINT64_MAX, &e->time_ns) || !*at || strchr(at, '/') ||
            (index->count && rank < e[-1].rank))
            return refuse(source, number, err);
        e->rank = (uint32_t)rank;
        e->name = at;
        index->count++;
    }
    return CW_OK;
}

static int by_rank(const void *a, const void *b)
{
    const struct cw_rank_entry *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank) : strcmp(x->name, y->name);
}

void cw_rank_index_write(struct cw_rank_index *index, struct cw_writer *out)
{
    if (index->count)
        qsort(index->entries, index->count, sizeof *index->entries, by_rank);
    cw_write_format(out, "%s", CW_RANK_INDEX_HEAD);
    for (size_t i = 0; i < index->count; i++) {
        const struct cw_rank_entry *e = &index->entries[i];
        cw_write_format(out, "%" PRIu32 " %" PRIu64 " %" PRIu64 " %s\n", e->rank, e->size, e->time_ns, e->name);
    }
}

/* Takes a part of a list, "7" or "0-7", from `*at` on, and the comma behind it. */
static bool take_part(const char **at, uint64_t *from, uint64_t *to)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    *from = *to = strtoull(*at, &end, 10);
    if (*end == '-') {
        if (end[1] < '0' || end[1] > '9')
            return false;
        *to = strtoull(end + 1, &end, 10);
    }
    *at = end + (*end == ',');
    return (*end == ',' && end[1]) || !*end;
}

bool cw_rank_list_is(const char *list)
{
    uint64_t from, to;
    bool good = *list != 0;
    while (good && *list)
        good = take_part(&list, &from, &to) && from <= to;
    return good;
}

bool cw_rank_list_has(const char *list, uint64_t rank)
{
    uint64_t from, to;
    while (*list && take_part(&list, &from, &to))
        if (from <= rank && rank <= to)
            return true;
    return false;
}
