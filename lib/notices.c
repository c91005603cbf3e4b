/* Lists of notices. */
#include "lib/views.h"

enum counterworks_status counterworks_notices_open(struct counterworks_notices **notices,
                                                   struct counterworks_error *error)
{
    const struct cw_lib_call call = cw_lib_enter();
    struct counterworks_notices *made = *notices = cw_lib_handle(sizeof *made);
    if (made)
        made->list.arena = made->arena;
    return cw_lib_finish(&call, made ? CW_OK : CW_ERR_NOMEM, error);
}

size_t counterworks_notices_count(const struct counterworks_notices *notices)
{
    size_t count = 0;
    for (const struct cw_notice *n = notices->list.first; n; n = n->next)
        count++;
    return count;
}

const char *counterworks_notices_text(const struct counterworks_notices *notices, size_t index)
{
    const struct cw_notice *n = notices->list.first;
    for (size_t i = 0; i < index; i++)
        n = n->next;
    return n->text;
}

void counterworks_notices_close(struct counterworks_notices *notices)
{
    cw_lib_drop(notices);
}

struct cw_notices *cw_lib_notices(struct counterworks_notices *notices)
{
    return notices ? &notices->list : NULL;
}

void cw_lib_notices_give(struct counterworks_notices *to, const struct cw_notices *from, const struct cw_notice **told)
{
    const struct cw_notice *n = *told ? (*told)->next : from->first;
    for (; n; n = n->next) {
        cw_notice(cw_lib_notices(to), "%s", n->text);
        *told = n;
    }
}
