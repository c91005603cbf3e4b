#include "agent/inject/memory/room.h"

/* Saving on the host takes a second for each GB, and as long again for each pass. CUPTI fails to start where it finds
 * no memory (seen: with 64 GB to save and 16 GB free, all of which the checkpoint took). */
static const size_t most_on_host = (size_t)1 << 30, reserve = (size_t)2 << 30;
enum { SHARE = 16 }; /* of a small device, instead of the reserve */

static size_t kept_free(size_t total)
{
    return total / SHARE < reserve ? total / SHARE : reserve;
}

size_t cw_room_kept_free(void)
{
    size_t unused, total;
    return cw_inject->api.cuMemGetInfo_v2(&unused, &total) == CUDA_SUCCESS ? kept_free(total) : 0;
}

/* What others hold on the device is taken for the context's: no more is known of it. */
bool cw_room_to_save(size_t besides)
{
    size_t unused, total;
    if (cw_inject->api.cuMemGetInfo_v2(&unused, &total) != CUDA_SUCCESS)
        return false;
    size_t held = total - unused, most = unused + most_on_host;
    return besides <= most && held + kept_free(total) <= most - besides;
}
