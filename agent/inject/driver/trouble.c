#include "agent/inject/driver/trouble.h"

#include <stdio.h>

#include "agent/inject/driver/say.h"

enum { CW_MOST_TROUBLES = 16 }; /* limit on kinds that are reported one by one */

static struct {
    atomic_int kinds[CW_MOST_TROUBLES]; /* the callback's number and CUPTI's result; 0: empty */
    atomic_uint more;                   /* number of unreported ones */
} state CW_STATE;
#define self (&state)

void cw_troubles_subscribe(void)
{
    static const CUpti_CallbackId all[] = {CUPTI_CBID_STATE_FATAL_ERROR, CUPTI_CBID_STATE_ERROR,
                                           CUPTI_CBID_STATE_WARNING};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        cw_inject->api.cuptiEnableCallback(1, cw_inject->subscriber, CUPTI_CB_DOMAIN_STATE, all[i]);
}

/* Whether this is the first trouble of its kind; counts all others. */
static bool is_first(CUpti_CallbackId id, CUptiResult result)
{
    const int kind = (int)(((unsigned)result << 2) | id);
    for (int i = 0; i < CW_MOST_TROUBLES; i++) {
        int before = 0;
        if (atomic_compare_exchange_strong(&self->kinds[i], &before, kind))
            return true;
        if (before == kind)
            break;
    }
    atomic_fetch_add(&self->more, 1);
    return false;
}

/* Writes "CUPTI_ERROR_UNKNOWN (999): its own words" in one line. */
static void describe(const CUpti_StateData *data, char *text, size_t size)
{
    const char *name = NULL, *message = data->notification.message;
    cw_inject->api.cuptiGetResultString(data->notification.result, &name);
    snprintf(text, size, "%s (%d)%s%.300s", name ? name : "unknown error", (int)data->notification.result,
             message && *message ? ": " : "", message ? message : "");
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = ' ';
}

void cw_troubles_take(CUpti_CallbackId id, const CUpti_StateData *data)
{
    char text[400];
    const bool fatal = id == CUPTI_CBID_STATE_FATAL_ERROR;
    if (cw_inject->over || !is_first(id, data->notification.result))
        return;
    describe(data, text, sizeof text);
    cw_say("CUPTI reports %s: %s",
           fatal                            ? "a fatal error"
           : id == CUPTI_CBID_STATE_WARNING ? "a warning"
                                            : "an error",
           text);
    if (fatal)
        cw_inject_fail(CW_ERR_DEVICE, "CUPTI ended itself by a fatal error: %s", text);
}

void cw_troubles_tell_rest(void)
{
    const unsigned more = atomic_exchange(&self->more, 0);
    if (more)
        cw_say("CUPTI reported %u more error%s or warning%s of these kinds", more, more == 1 ? "" : "s",
               more == 1 ? "" : "s");
}
