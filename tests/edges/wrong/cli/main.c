#include "base/bytes.h"

int main(void)
{
    return cw_value_make() + cw_value_free();
}
