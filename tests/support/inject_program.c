/* A program that CUDA loads the injection library into. Its exit status: 1 where that did as the environment says, 2
 * where it did so with the rights of another user or group. */
#include <sys/auxv.h>

#include "agent/inject/driver/wire.h"
#include "tests/support/fake_cupti.h"

int main(void)
{
    InitializeInjection();
    return cw_wire->tried ? (getauxval(AT_SECURE) ? 2 : 1) : 0;
}
