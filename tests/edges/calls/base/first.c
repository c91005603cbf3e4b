#include "base/parts.h"

int cw_part_first(int left)
{
    return left ? cw_part_second(left - 1) : 0;
}
