#include "image/chunk_walk.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/arena.h"
#include "base/search.h"
#include "image/pack.h"

enum cw_status cw_chunk_walk_begin(struct cw_chunk_walk *walk, const struct cw_input *input,
                                   const struct cw_chunk_kind *kind, uint64_t pos, struct cw_error *err)
{
    *walk = (struct cw_chunk_walk){.window.input = input, .pos = pos, .err = err};
    if (pos)
        return CW_OK;
    const size_t size = input->size < CW_FILE_HEADER_SIZE ? (size_t)input->size : CW_FILE_HEADER_SIZE;
    const uint8_t *head;
    struct cw_reader file;
    const enum cw_status status = cw_window_get(&walk->window, 0, size, &head, err);
    if (status != CW_OK)
        return status;
    cw_reader_init(&file, head, size, input->name, 0, err);
    walk->pos = CW_FILE_HEADER_SIZE;
    return cw_chunk_check_header(&file, kind);
}

void cw_chunk_walk_end(struct cw_chunk_walk *walk)
{
    free(walk->window.data);
    walk->window.data = NULL;
    if (walk->pack)
        cw_pack_free(walk->pack);
    free(walk->pack);
    walk->pack = NULL;
}

struct cw_reader cw_chunk_walk_reader(const struct cw_chunk_walk *walk)
{
    struct cw_reader reader;
    cw_reader_init(&reader, NULL, (size_t)walk->window.input->size, walk->window.input->name, 0, walk->err);
    return reader;
}

/* ---- damage ----------------------------------------------------------------------------------------------------- */

enum cw_status cw_chunk_gaps_add(struct cw_chunk_gaps *gaps, const struct cw_chunk_gap *gap, struct cw_error *err)
{
    struct cw_chunk_gap added = *gap;
    while (gaps->count && gaps->items[gaps->count - 1].to >= added.from) {
        const struct cw_chunk_gap *last = &gaps->items[--gaps->count];
        added.from = last->from < added.from ? last->from : added.from;
        added.to = last->to > added.to ? last->to : added.to;
        added.type = 0;
    }
    struct cw_chunk_gap *grown = cw_grown(gaps->items, &gaps->room, gaps->count, sizeof *grown);
    if (!grown)
        return cw_error_nomem(err);
    gaps->items = grown;
    gaps->items[gaps->count++] = added;
    return CW_OK;
}

struct head {
    uint32_t type, flags;
    uint64_t length, checksum;
};

static struct head read_head(const uint8_t *bytes)
{
    struct cw_reader in;
    struct head head;
    cw_reader_quiet(&in, bytes, CW_CHUNK_HEADER_SIZE);
    head.type = cw_read_u32(&in);
    head.flags = cw_read_u32(&in);
    head.length = cw_read_u64(&in);
    head.checksum = cw_read_u64(&in);
    return head;
}

/* Types are four capital letters. */
static bool is_plausible(const uint8_t *bytes, uint64_t left)
{
    for (int i = 0; i < 4; i++)
        if (bytes[i] < 'A' || bytes[i] > 'Z')
            return false;
    const struct head head = read_head(bytes);
    return !(head.flags & ~(uint32_t)CW_CHUNK_OPTIONAL) && head.length <= left - CW_CHUNK_HEADER_SIZE;
}

/* Whether the chunk at `pos`, which ends within the file, is whole. Reads it in pieces, because a damaged length may be
 * anything. A chunk that is not whole uses up `tried`: otherwise each of many false heads could make us read the rest
 * of the file. */
static enum cw_status is_whole(struct cw_chunk_walk *w, uint64_t pos, bool *whole)
{
    const struct cw_input *input = w->window.input;
    const uint64_t most = 4 * input->size; /* no file has 2^62 bytes */
    uint8_t piece[1 << 14];
    XXH3_state_t state;
    *whole = false;
    enum cw_status status = cw_input_read(input, pos, CW_CHUNK_HEADER_SIZE, piece, w->err);
    if (status != CW_OK)
        return status;
    const struct head head = read_head(piece);
    if (head.length > most || w->mends->tried > most - head.length)
        return CW_OK;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, piece, 16);
    pos += CW_CHUNK_HEADER_SIZE;
    for (uint64_t left = head.length; left && status == CW_OK;) {
        const size_t n = left < sizeof piece ? (size_t)left : sizeof piece;
        status = cw_input_read(input, pos, n, piece, w->err);
        XXH3_64bits_update(&state, piece, n);
        pos += n;
        left -= n;
    }
    *whole = status == CW_OK && XXH3_64bits_digest(&state) == head.checksum;
    w->mends->tried += *whole ? 0 : head.length;
    return status;
}

/* Finds the first whole chunk at or behind `from`; *at is the file's size if there is none. */
static enum cw_status find_whole(struct cw_chunk_walk *w, uint64_t from, uint64_t *at)
{
    const uint64_t size = w->window.input->size;
    enum cw_status status = CW_OK;
    bool whole = false;
    for (*at = from; status == CW_OK && !whole && size - *at >= CW_CHUNK_HEADER_SIZE;) {
        const size_t n = size - *at < CW_WINDOW_AHEAD ? (size_t)(size - *at) : CW_WINDOW_AHEAD;
        const uint8_t *bytes;
        size_t i = 0;
        status = cw_window_get(&w->window, *at, n, &bytes, w->err);
        while (status == CW_OK && !whole && n - i >= CW_CHUNK_HEADER_SIZE) {
            if (is_plausible(bytes + i, size - *at - i))
                status = is_whole(w, *at + i, &whole);
            i += !whole;
        }
        *at += i;
    }
    *at = whole ? *at : size;
    return status;
}

/* End of the chunk that begins at `pos`, according to its head; 0 if the head is implausible. */
static enum cw_status end_by_head(const struct cw_chunk_walk *w, uint64_t pos, uint64_t *end, uint32_t *type)
{
    const uint64_t size = w->window.input->size;
    uint8_t bytes[CW_CHUNK_HEADER_SIZE];
    *end = 0;
    if (size - pos < sizeof bytes)
        return CW_OK;
    const enum cw_status status = cw_input_read(w->window.input, pos, sizeof bytes, bytes, w->err);
    if (status == CW_OK && is_plausible(bytes, size - pos)) {
        const struct head head = read_head(bytes);
        *type = head.type;
        *end = pos + CW_CHUNK_HEADER_SIZE + head.length;
    }
    return status;
}

/* Goes on to the next whole chunk, or to the end of the file. A chunk cut off at the end of the file counts as
 * truncated, not as damaged. */
static enum cw_status mend(struct cw_chunk_walk *w, bool *truncated)
{
    const uint64_t size = w->window.input->size;
    struct cw_chunk_gap gap = {.from = w->pos};
    uint64_t end = 0;
    uint32_t type = 0;
    enum cw_status status = find_whole(w, w->pos + 1, &gap.to);
    if (status == CW_OK && gap.to == size && *truncated)
        return CW_OK;
    *truncated = false;
    if (status == CW_OK)
        status = end_by_head(w, w->pos, &end, &type);
    gap.type = end == gap.to ? type : 0;
    if (status == CW_OK)
        status = cw_chunk_gaps_add(w->mends, &gap, w->err);
    w->pos = gap.to;
    return status;
}

/* Skips a known gap that begins here. */
static void skip_gap(struct cw_chunk_walk *w)
{
    struct cw_search s = {0, w->gaps->count};
    while (s.low < s.high)
        cw_search_narrow(&s, w->gaps->items[cw_search_middle(&s)].from < w->pos);
    if (s.low < w->gaps->count && w->gaps->items[s.low].from == w->pos)
        w->pos = w->gaps->items[s.low].to;
}

/* ---- the walk --------------------------------------------------------------------------------------------------- */

/* Larger chunks are verified in pieces before they are read whole, so that a nonsense length takes no memory. */
static const uint64_t large = 64 << 20;

/* *damaged: no whole chunk begins here, and the walk is to mend that. */
static enum cw_status take_next(struct cw_chunk_walk *walk, struct cw_chunk *chunk, bool *found, bool *truncated,
                                bool *damaged)
{
    const uint64_t left = walk->window.input->size - walk->pos;
    size_t size = left < CW_CHUNK_HEADER_SIZE ? (size_t)left : CW_CHUNK_HEADER_SIZE;
    struct cw_reader file;
    const uint8_t *at;
    enum cw_status status = cw_window_get(&walk->window, walk->pos, size, &at, walk->err);
    if (status == CW_OK && size == CW_CHUNK_HEADER_SIZE) {
        const uint64_t length = read_head(at).length;
        if (walk->mends && length > large && length <= left - size) {
            bool whole;
            status = is_whole(walk, walk->pos, &whole);
            *damaged = !whole;
        }
        if (status == CW_OK && !*damaged && length <= left - size && length <= SIZE_MAX - size)
            status = cw_window_get(&walk->window, walk->pos, size += (size_t)length, &at, walk->err);
    }
    if (status != CW_OK || *damaged)
        return status;
    cw_reader_init(&file, at, size, walk->window.input->name, walk->pos, walk->mends ? NULL : walk->err);
    status = cw_chunk_next(&file, chunk, found, truncated);
    walk->pos += *found ? size : 0;
    if (status == CW_OK || !walk->mends)
        return status;
    walk->mends->tried += size;
    *damaged = true;
    return CW_OK;
}

static enum cw_status next_of_file(struct cw_chunk_walk *walk, struct cw_chunk *chunk, bool *found, bool *truncated)
{
    bool damaged, cut, again;
    enum cw_status status;
    *found = false;
    do {
        damaged = cut = false;
        if (walk->gaps && walk->gaps->count)
            skip_gap(walk);
        status = take_next(walk, chunk, found, walk->mends ? &cut : truncated, &damaged);
        again = status == CW_OK && (damaged || cut);
        if (again)
            status = mend(walk, &cut);
    } while (status == CW_OK && again && !cut);
    if (cut && truncated)
        *truncated = true;
    return status;
}

enum cw_status cw_chunk_gaps_drop(struct cw_chunk_gaps *gaps, uint64_t place, struct cw_error *err)
{
    uint64_t *grown = cw_grown(gaps->dropped, &gaps->dropped_room, gaps->dropped_count, sizeof *grown);
    if (!grown)
        return cw_error_nomem(err);
    gaps->dropped = grown;
    gaps->dropped[gaps->dropped_count++] = place;
    return CW_OK;
}

/* Sorts in the order of the file. */
static int by_place(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    const uint64_t x = a << (64 - CW_PLACE_SHIFT) | a >> CW_PLACE_SHIFT,
                   y = b << (64 - CW_PLACE_SHIFT) | b >> CW_PLACE_SHIFT;
    return (x > y) - (x < y);
}

static bool is_dropped(const struct cw_chunk_walk *w)
{
    const struct cw_chunk_gaps *gaps = w->gaps;
    const uint64_t place = cw_pack_place(w->pack);
    return gaps && gaps->dropped_count && bsearch(&place, gaps->dropped, gaps->dropped_count, sizeof place, by_place);
}

static enum cw_status open_pack(struct cw_chunk_walk *walk, const struct cw_chunk *chunk)
{
    const struct cw_reader file = cw_chunk_walk_reader(walk);
    if (!walk->pack && !(walk->pack = calloc(1, sizeof *walk->pack)))
        return cw_error_nomem(walk->err);
    const struct cw_chunk_gaps *gaps = walk->gaps ? walk->gaps : walk->mends;
    const enum cw_status status = cw_pack_open(walk->pack, chunk, gaps ? gaps->ranks : NULL, &file);
    walk->pack->record = walk->skip;
    walk->skip = 0;
    return status;
}

enum cw_status cw_chunk_walk_next(struct cw_chunk_walk *walk, struct cw_chunk *chunk, bool *found, bool *truncated)
{
    enum cw_status status = CW_OK;
    while (status == CW_OK) {
        while (walk->pack && cw_pack_has_more(walk->pack) && !walk->pack->part &&
               (!cw_pack_is_wanted(walk->pack) || is_dropped(walk)))
            walk->pack->record++;
        if (walk->pack && cw_pack_has_more(walk->pack)) {
            const struct cw_reader file = cw_chunk_walk_reader(walk);
            status = cw_pack_next(walk->pack, chunk, &file);
            *found = status == CW_OK;
            return status;
        }
        status = next_of_file(walk, chunk, found, truncated);
        if (status != CW_OK || !*found || chunk->type != CW_CHUNK_PACK || chunk->flags)
            return status;
        status = open_pack(walk, chunk);
    }
    return status;
}

void cw_chunk_walk_seek(struct cw_chunk_walk *walk, uint64_t place)
{
    const uint64_t offset = place & (((uint64_t)1 << CW_PLACE_SHIFT) - 1);
    const uint32_t record = (uint32_t)(place >> CW_PLACE_SHIFT);
    const bool open = walk->pack && walk->pack->arena && walk->pack->offset == offset;
    if (walk->pack) {
        walk->pack->record = open ? record : walk->pack->record_count;
        walk->pack->part = 0;
    }
    walk->pos = open ? offset + CW_CHUNK_HEADER_SIZE + walk->pack->size : offset;
    walk->skip = open ? 0 : record;
}
