#include "metricdb/dimension.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metricdb/fact.h"

enum { LARGEST_EXPONENT = 9 };

static bool multiply_one(struct cw_dimension *d, const char *name, int exponent)
{
    unsigned i = 0;
    while (i < d->count && strcmp(d->factors[i].name, name) < 0)
        i++;
    if (i < d->count && strcmp(d->factors[i].name, name) == 0) {
        d->factors[i].exponent += exponent;
        if (d->factors[i].exponent == 0)
            memmove(&d->factors[i], &d->factors[i + 1], (--d->count - i) * sizeof d->factors[0]);
        else
            return abs(d->factors[i].exponent) <= LARGEST_EXPONENT;
        return true;
    }
    if (d->count == CW_DIMENSION_FACTORS)
        return false;
    memmove(&d->factors[i + 1], &d->factors[i], (d->count++ - i) * sizeof d->factors[0]);
    snprintf(d->factors[i].name, CW_DIMENSION_NAME, "%s", name);
    d->factors[i].exponent = exponent;
    return true;
}

/* Parses one factor, "bytes", "s^2" or "1"; moves `*text` behind it. */
static bool parse_factor(struct cw_dimension *d, const char **text, int sign)
{
    char name[CW_DIMENSION_NAME];
    size_t length = strcspn(*text, "*/^");
    int exponent = 1;
    if (!length || length >= sizeof name || memchr(*text, ' ', length))
        return false;
    memcpy(name, *text, length);
    name[length] = 0;
    *text += length;
    if (**text == '^') {
        if ((*text)[1] < '1' || (*text)[1] > '0' + LARGEST_EXPONENT)
            return false;
        exponent = (*text)[1] - '0';
        *text += 2;
    }
    if (strcmp(name, "1") == 0)
        return true;
    return multiply_one(d, strcmp(name, "percent") == 0 ? "%" : name, sign * exponent);
}

bool cw_dimension_parse(struct cw_dimension *d, const char *text)
{
    *d = (struct cw_dimension){0};
    for (int sign = 1;;) {
        if (!parse_factor(d, &text, sign))
            return false;
        if (!*text)
            return true;
        if (*text != '*' && *text != '/')
            return false;
        sign = *text++ == '/' ? -1 : 1;
    }
}

bool cw_dimension_multiply(struct cw_dimension *d, const struct cw_dimension *by, int exponent)
{
    bool fits = true;
    for (unsigned i = 0; i < by->count && fits; i++)
        fits = multiply_one(d, by->factors[i].name, exponent * by->factors[i].exponent);
    return fits;
}

bool cw_dimension_equal(const struct cw_dimension *a, const struct cw_dimension *b)
{
    if (a->count != b->count)
        return false;
    for (unsigned i = 0; i < a->count; i++)
        if (a->factors[i].exponent != b->factors[i].exponent || strcmp(a->factors[i].name, b->factors[i].name) != 0)
            return false;
    return true;
}

static void put(char *buffer, size_t *used, const char *text)
{
    int length = snprintf(buffer + *used, CW_DIMENSION_TEXT - *used, "%s", text);
    *used += (size_t)length < CW_DIMENSION_TEXT - *used ? (size_t)length : CW_DIMENSION_TEXT - *used - 1;
}

const char *cw_dimension_text(const struct cw_dimension *d, char *buffer)
{
    size_t used = 0;
    buffer[0] = 0;
    for (int sign = 1; sign >= -1; sign -= 2)
        for (unsigned i = 0; i < d->count; i++) {
            int exponent = sign * d->factors[i].exponent;
            char power[8] = "";
            if (exponent <= 0)
                continue;
            if (exponent > 1)
                snprintf(power, sizeof power, "^%d", exponent % 10);
            put(buffer, &used, sign < 0 ? (used ? "/" : "1/") : used ? "*" : "");
            put(buffer, &used, d->factors[i].name);
            put(buffer, &used, power);
        }
    if (!used)
        put(buffer, &used, "1");
    return buffer;
}

static int by_text(const void *a, const void *b)
{
    const struct cw_unit_name *x = a, *y = b;
    int order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

static void add_names(struct cw_unit_names *names, const char *dimension)
{
    for (const char *at = dimension; *at; at += strcspn(at, "*/"), at += *at != 0)
        ((struct cw_unit_name *)names->items)[names->count++] = (struct cw_unit_name){at, strcspn(at, "*/^")};
}

bool cw_unit_names_make(struct cw_unit_names *names, const struct cw_chip *chip, struct cw_arena *arena)
{
    static const char *const always[] = {"%", "s", "cycles"};
    enum { ALWAYS = sizeof always / sizeof *always };
    size_t most = ALWAYS;
    for (uint32_t i = 0; i < cw_fact_count(); i++)
        most += strlen(cw_fact(i)->unit) + 1;
    for (uint32_t i = 0; i < chip->counter_count; i++)
        most += strlen(chip->counters[i].dimension) + 1;
    for (uint32_t i = 0; i < chip->ratio_count; i++)
        most += strlen(chip->ratios[i].dimension) + 1;
    struct cw_unit_name *items = cw_arena_alloc(arena, most, sizeof *items);
    *names = (struct cw_unit_names){0, items};
    if (!items)
        return false;
    for (size_t i = 0; i < ALWAYS; i++)
        add_names(names, always[i]);
    for (uint32_t i = 0; i < cw_fact_count(); i++)
        add_names(names, cw_fact(i)->unit);
    for (uint32_t i = 0; i < chip->counter_count; i++) /* consecutive counters often have the same dimension */
        if (!i || strcmp(chip->counters[i].dimension, chip->counters[i - 1].dimension) != 0)
            add_names(names, chip->counters[i].dimension);
    for (uint32_t i = 0; i < chip->ratio_count; i++)
        add_names(names, chip->ratios[i].dimension);
    qsort(items, names->count, sizeof *items, by_text);
    return true;
}

bool cw_dimension_known(const struct cw_dimension *d, const struct cw_unit_names *names)
{
    bool known = true;
    for (unsigned i = 0; i < d->count && known; i++) {
        const struct cw_unit_name name = {d->factors[i].name, strlen(d->factors[i].name)};
        known = bsearch(&name, names->items, names->count, sizeof name, by_text);
    }
    return known;
}
