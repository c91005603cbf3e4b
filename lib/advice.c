/* What advice needs. */
#include "lib/handles.h"
#include "metricdb/rules.h"

enum counterworks_status counterworks_advice_metrics(const struct counterworks_chip *chip, const char *rules,
                                                     bool (*take)(void *, const char *), void *user,
                                                     struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    struct cw_arena *arena = cw_arena_create();
    const struct cw_rules *all = NULL;
    char name[CW_METRIC_NAME_MAX];
    bool more = true;
    enum cw_status status =
        arena ? cw_rules_load(&all, chip->chip, chip->folder, rules, arena, &call.err) : cw_error_nomem(&call.err);
    for (size_t i = 0; status == CW_OK && more && i < all->metric_count; i++)
        if (all->metrics[i].type != CW_FORMULA)
            more = take(user, cw_metric_name(all->chip, &all->metrics[i], name));
    cw_arena_destroy(arena);
    return cw_lib_finish(&call, status, error);
}
