/* A program that CUDA loads the injection library into. Its exit status: 1 where that did as the environment says, 2
 * where it did so with the rights of another user or group, 3 where it listens for an agent. */
#include <sys/auxv.h>

#include "agent/inject/attach.h"
#include "agent/inject/driver/wire.h"
#include "tests/support/fake_cupti.h"

int main(void)
{
    InitializeInjection();
    if (cw_attach->begin)
        return 3;
    return cw_wire->tried ? (getauxval(AT_SECURE) ? 2 : 1) : 0;
}
