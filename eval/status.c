#include "eval/status.h"

static const char *const texts[CW_VALUE_STATUS_COUNT] = {
    [CW_VALUE_OK] = "ok",
    [CW_VALUE_MIXED_PASSES] = "mixed passes",
    [CW_VALUE_MULTIPLEXED] = "multiplexed",
    [CW_VALUE_ZERO_DENOMINATOR] = "zero denominator",
    [CW_VALUE_OVERFLOW] = "overflow",
    [CW_VALUE_INCOMPLETE] = "incomplete",
    [CW_VALUE_IMPLAUSIBLE] = "implausible",
    [CW_VALUE_UNAVAILABLE] = "unavailable",
    [CW_VALUE_NOT_COLLECTED] = "not collected",
};

const char *cw_value_status_text(enum cw_value_status status)
{
    return texts[status];
}
