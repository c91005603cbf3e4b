#include "base/parts.h"
#include "eval/value.h"

int cw_main(void);
int cw_main(void)
{
    return cw_value_make() + cw_part_first(2);
}
