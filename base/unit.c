#include "base/unit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct unit_part { /* of "gpc_cycles*warps/gpc_cycles" */
    const char *text;
    size_t length;
    bool below, gone;
};
enum { MOST_PARTS = 16 };

/* Splits a unit into parts; cancelled ones are `gone`. Returns how many there are, MOST_PARTS + 1 for too many. */
static size_t split_unit(const char *unit, struct unit_part parts[MOST_PARTS])
{
    size_t count = 0;
    for (bool below = false; *unit && count <= MOST_PARTS;) {
        const size_t length = strcspn(unit, "*/");
        const struct unit_part part = {unit, length, below, length == 1 && *unit == '1' && unit[length]};
        size_t k = 0;
        while (k < count && (parts[k].gone || parts[k].below == below || parts[k].length != length ||
                             strncmp(parts[k].text, unit, length) != 0))
            k++;
        if (k < count)
            parts[k].gone = true;
        else if (count++ < MOST_PARTS)
            parts[count - 1] = part;
        below = unit[length] == '/';
        unit += length + (unit[length] != 0);
    }
    return count;
}

/* Names a part by its last word, which is the thing counted; below the line in the singular: "request". */
static void put_part(char shown[CW_UNIT_SIZE], const struct unit_part *part)
{
    static const char *const words[][3] = {{"bytes", "B", "byte"},          {"kilobytes", "kB", "kB"},
                                           {"nanoseconds", "ns", "ns"},     {"ctas", "blocks", "block"},
                                           {"cgas", "clusters", "cluster"}, {"instructions", "inst", "inst"},
                                           {"reqs", "requests", "request"}, {"accesses", "accesses", "access"}};
    const size_t used = strlen(shown);
    size_t length = 0;
    while (length < part->length && part->text[part->length - length - 1] != '_')
        length++;
    const char *word = part->text + part->length - length;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(words[i][0], word, length) == 0 && !words[i][0][length]) {
            snprintf(shown + used, CW_UNIT_SIZE - used, "%s", words[i][1 + part->below]);
            return;
        }
    length -= part->below && length > 2 && word[length - 1] == 's';
    snprintf(shown + used, CW_UNIT_SIZE - used, "%.*s", (int)length, word);
}

const char *cw_unit_text(const char *unit, char shown[CW_UNIT_SIZE])
{
    struct unit_part parts[MOST_PARTS];
    const size_t count = split_unit(unit, parts);
    bool above = false;
    *shown = 0;
    if (count > MOST_PARTS || strcmp(unit, "1") == 0) {
        snprintf(shown, CW_UNIT_SIZE, "%s", count > MOST_PARTS ? unit : "");
        return shown;
    }
    for (int below = 0; below < 2; below++)
        for (size_t i = 0; i < count; i++) {
            if (parts[i].gone || parts[i].below != below)
                continue;
            const size_t used = strlen(shown);
            snprintf(shown + used, CW_UNIT_SIZE - used, "%s", below ? above ? "/" : "1/" : above ? "*" : "");
            above = true;
            put_part(shown, &parts[i]);
        }
    if (strcmp(shown, "cycles/s") == 0)
        strcpy(shown, "Hz");
    return shown;
}

const char *cw_unit_or_one(const char *unit, char shown[CW_UNIT_SIZE])
{
    return *cw_unit_text(unit, shown) ? shown : unit;
}
