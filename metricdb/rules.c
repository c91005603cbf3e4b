#include "metricdb/rules.h"

#include <string.h>

#include "metricdb/formula.h"

/* Whether a formula is "rule.ID.NAME" of any rule. */
static bool is_own_value(const char *formula, const char *name)
{
    const size_t length = strlen(formula), wanted = strlen(name);
    return strncmp(formula, "rule.", 5) == 0 && length > wanted + 6 && formula[length - wanted - 1] == '.' &&
           strcmp(formula + length - wanted, name) == 0;
}

enum cw_status cw_rules_find(struct cw_metric *metric, const struct cw_rules *rules, const char *name,
                             struct cw_error *err)
{
    const struct cw_formulas *all = rules->chip->formulas;
    const char *own[2];
    size_t count = 0;
    for (uint32_t i = 0; all && i < all->count; i++) {
        const char *formula = all->items[i].name;
        const bool shared = strncmp(formula, "value.", 6) == 0 && strcmp(formula + 6, name) == 0;
        if (shared || strcmp(formula, name) == 0) {
            *metric = (struct cw_metric){.type = CW_FORMULA, .base = i};
            return CW_OK;
        }
        if (is_own_value(formula, name) && count < 2) {
            *metric = (struct cw_metric){.type = CW_FORMULA, .base = i};
            own[count++] = formula;
        }
    }
    if (count == 1)
        return CW_OK;
    if (count)
        return cw_error_set(err, CW_ERR_USAGE,
                            "found the value '%.100s' of several rules, expected one as in %.100s or %.100s", name,
                            own[0], own[1]);
    return cw_error_set(err, CW_ERR_UNSUPPORTED, "found no value '%.100s' in the rules", name);
}
