#include "eval/value.h"

int cw_value_make(void)
{
    return 1;
}
