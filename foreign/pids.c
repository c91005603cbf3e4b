#define _GNU_SOURCE
#include "foreign/pids.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/arena.h"
#include "base/decimal.h"

/* In place of a correlation: any call of the label. */
#define ANY_CALL UINT64_MAX

struct cw_pid_entry {
    char *text;
    uint32_t label;
    uint32_t number; /* in the text at first, 0 for none */
    bool plain;      /* the text is this number alone */
};

struct key {
    uint64_t label, correlation; /* label: 0 for all processes */
};

struct cw_pid_call {
    struct key key;
    cw_pid pid; /* 0: of several processes */
};

/* Where the digits at the end of a text begin. */
static size_t digits_at(const char *text)
{
    size_t at = strlen(text);
    while (at && isdigit((unsigned char)text[at - 1]))
        at--;
    return at;
}

/* The length of the label: all but the number behind it. The sign of a number is no label. */
static size_t label_size(const char *text)
{
    const size_t size = digits_at(text);
    return size == 1 && *text == '-' ? 0 : size;
}

/* ---- lists ------------------------------------------------------------------------------------------------------ */

struct text {
    const char *at;
    size_t size;
};

static bool is_equal(const char *text, const struct text *key)
{
    return strncmp(text, key->at, key->size) == 0 && !text[key->size];
}

static bool is_pid(const void *list, uint32_t item, const void *key)
{
    return is_equal(((const struct cw_pid_entry *)list)[item].text, key);
}

static bool is_label(const void *labels, uint32_t item, const void *key)
{
    return is_equal(((char *const *)labels)[item], key);
}

static bool is_call(const void *calls, uint32_t item, const void *key)
{
    const struct key *a = &((const struct cw_pid_call *)calls)[item].key, *b = key;
    return a->label == b->label && a->correlation == b->correlation;
}

/* Sets the number of the text's label, from 1 on; 0 for none. False when out of memory. */
static bool add_label(struct cw_pids *p, uint32_t *label, const char *text)
{
    const struct text key = {text, label_size(text)};
    const uint32_t known = p->label_table.count;
    *label = 0;
    if (!key.size)
        return true;
    const uint32_t item = cw_hash_table_add(&p->label_table, XXH3_64bits(key.at, key.size), is_label, p->labels, &key);
    *label = item + 1;
    if (item == CW_NO_ITEM || item < known)
        return item != CW_NO_ITEM;
    char **grown = cw_grown(p->labels, &p->label_room, item, sizeof *grown);
    if (!grown)
        return false;
    p->labels = grown;
    grown[p->label_count++] = strndup(key.at, key.size);
    return grown[item];
}

static bool note_key(struct cw_pids *p, struct key key, cw_pid pid)
{
    const uint32_t known = p->call_table.count;
    const uint32_t item = cw_hash_table_add(&p->call_table, XXH3_64bits(&key, sizeof key), is_call, p->calls, &key);
    if (item == CW_NO_ITEM)
        return false;
    if (item < known) {
        p->calls[item].pid = p->calls[item].pid == pid ? pid : 0;
        return true;
    }
    struct cw_pid_call *grown = cw_grown(p->calls, &p->call_room, item, sizeof *grown);
    p->calls = grown ? grown : p->calls;
    if (grown)
        grown[item] = (struct cw_pid_call){key, pid};
    return grown != NULL;
}

bool cw_pids_add_call(struct cw_pids *p, cw_pid pid, uint64_t correlation)
{
    const uint32_t label = pid ? p->list[pid - 1].label : 0;
    return note_key(p, (struct key){0, correlation}, pid) &&
           (!label || note_key(p, (struct key){label, correlation}, pid));
}

/* ---- processes -------------------------------------------------------------------------------------------------- */

static bool append(struct cw_pids *p, uint32_t item, const char *text)
{
    struct cw_pid_entry *grown = cw_grown(p->list, &p->room, item, sizeof *grown);
    if (!grown)
        return false;
    p->list = grown;
    grown[p->count++] = (struct cw_pid_entry){.text = strdup(text)};
    const char *digits = text + digits_at(text);
    if (!cw_decimal_read_u32(digits, &grown[item].number))
        grown[item].number = 0;
    grown[item].plain = grown[item].number && digits == text;
    return grown[item].text;
}

bool cw_pids_add(struct cw_pids *p, cw_pid *pid, const char *text)
{
    const struct text key = {text, strlen(text)};
    const uint32_t known = p->pid_table.count;
    *pid = 0;
    if (!*text || strcmp(text, "0") == 0)
        return true;
    const uint32_t item = cw_hash_table_add(&p->pid_table, XXH3_64bits(key.at, key.size), is_pid, p->list, &key);
    *pid = item + 1;
    if (item == CW_NO_ITEM || item < known)
        return item != CW_NO_ITEM;
    return append(p, item, text) && add_label(p, &p->list[item].label, text) && cw_pids_add_call(p, *pid, ANY_CALL);
}

/* NULL for none. */
static const struct cw_pid_call *find_call(const struct cw_pids *p, uint32_t label, uint64_t correlation)
{
    const struct key key = {label, correlation};
    const uint32_t item = cw_hash_table_find(&p->call_table, XXH3_64bits(&key, sizeof key), is_call, p->calls, &key);
    return item == CW_NO_ITEM ? NULL : &p->calls[item];
}

static bool is_number(const char *text, uint64_t number)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, number);
    return strcmp(text, digits) == 0;
}

cw_pid cw_pids_find(const struct cw_pids *p, const char *text, uint64_t device, uint64_t correlation)
{
    const struct text all = {text, strlen(text)}, key = {text, label_size(text)};
    const uint32_t label =
        key.size ? cw_hash_table_find(&p->label_table, XXH3_64bits(key.at, key.size), is_label, p->labels, &key)
                 : CW_NO_ITEM;
    const uint32_t same = label != CW_NO_ITEM || (!key.size && device != UINT64_MAX && !is_number(text, device))
                              ? cw_hash_table_find(&p->pid_table, XXH3_64bits(all.at, all.size), is_pid, p->list, &all)
                              : CW_NO_ITEM;
    if (same != CW_NO_ITEM)
        return same + 1;
    const uint32_t within = label != CW_NO_ITEM ? label + 1 : 0;
    const struct cw_pid_call *call = find_call(p, within, correlation);
    call = call ? call : find_call(p, within, ANY_CALL);
    return call ? call->pid : 0;
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static int by_number(const void *left, const void *right, void *list)
{
    const struct cw_pid_entry *entries = list, *a = &entries[*(const uint32_t *)left],
                              *b = &entries[*(const uint32_t *)right];
    return a->number != b->number ? (a->number > b->number) - (a->number < b->number) : b->plain - a->plain;
}

/* Takes numbers away that several texts have; a text of only the number keeps it. Returns how many of `order` have one,
 * in its front. */
static uint32_t keep_numbers(struct cw_pid_entry *list, uint32_t *order, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0, end; i < count; i = end) {
        struct cw_pid_entry *first = &list[order[i]];
        for (end = i + 1; end < count && list[order[end]].number == first->number; end++) {
            list[order[end]].number = 0;
            list[order[end]].plain = false;
        }
        if (first->plain || (end == i + 1 && first->number))
            order[kept++] = order[i];
        else
            first->number = 0;
    }
    return kept;
}

bool cw_pids_number(struct cw_pids *p)
{
    uint32_t *order = calloc((size_t)p->count + 1, sizeof *order);
    if (!order)
        return false;
    for (uint32_t i = 0; i < p->count; i++)
        order[i] = i;
    qsort_r(order, p->count, sizeof *order, by_number, p->list);
    const uint32_t kept = keep_numbers(p->list, order, p->count);
    for (uint32_t i = 0, at = 0, next = 1; i < p->count; i++) {
        if (p->list[i].number)
            continue;
        for (; at < kept && p->list[order[at]].number == next; at++)
            next++;
        p->list[i].number = next++;
    }
    free(order);
    return true;
}

uint32_t cw_pids_number_of(const struct cw_pids *p, cw_pid pid)
{
    return pid ? p->list[pid - 1].number : 0;
}

const char *cw_pids_name_of(const struct cw_pids *p, cw_pid pid)
{
    return pid && !p->list[pid - 1].plain ? p->list[pid - 1].text : NULL;
}

void cw_pids_free(struct cw_pids *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        free(p->list[i].text);
    for (uint32_t i = 0; i < p->label_count; i++)
        free(p->labels[i]);
    cw_hash_table_free(&p->pid_table);
    cw_hash_table_free(&p->label_table);
    cw_hash_table_free(&p->call_table);
    free(p->list);
    free(p->labels);
    free(p->calls);
}
