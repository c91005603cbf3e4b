#include "metricdb/formula.h"

#include <string.h>

uint32_t cw_formulas_find(const struct cw_chip *chip, const char *name)
{
    const struct cw_formulas *all = chip->formulas;
    uint32_t low = 0, high = all ? all->count : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(all->items[all->by_name[middle]].name, name);
        if (order == 0)
            return all->by_name[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return CW_NONE;
}
