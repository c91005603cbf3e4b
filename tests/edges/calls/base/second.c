#include "base/parts.h"

/* as eval/value.h has it */
int cw_value_make(void);

int cw_part_second(int left)
{
    return left ? cw_part_first(left - 1) : cw_value_make();
}
