#include "metricdb/formula.h"

#include <string.h>

#include "base/search.h"

uint32_t cw_formulas_find(const struct cw_chip *chip, const char *name)
{
    const struct cw_formulas *all = chip->formulas;
    const uint32_t count = all ? all->count : 0;
    struct cw_search s = {0, count};
    while (s.low < s.high)
        cw_search_narrow(&s, strcmp(all->items[all->by_name[cw_search_middle(&s)]].name, name) < 0);
    return s.low < count && strcmp(all->items[all->by_name[s.low]].name, name) == 0 ? all->by_name[s.low] : CW_NONE;
}
