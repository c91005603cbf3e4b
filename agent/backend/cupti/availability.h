/* Which counters this GPU has. CUPTI plans a counter of a unit that is not there or not up, as NVLink without a link,
 * for its chip has one; with the GPU's own counter availability it refuses it. */
#ifndef CW_AGENT_AVAILABILITY_H
#define CW_AGENT_AVAILABILITY_H

#include <stdbool.h>

#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>

#define CW_AVAILABILITY_FUNCTIONS(X)                                                                                   \
    X(cuptiPmSamplingGetCounterAvailability)                                                                           \
    X(cuptiProfilerHostInitialize)                                                                                     \
    X(cuptiProfilerHostDeinitialize)                                                                                   \
    X(cuptiProfilerHostGetBaseMetrics)                                                                                 \
    X(cuptiProfilerHostConfigAddMetrics)

struct cw_availability {
#define X(name) __typeof__(&name) name; /* NULL where this CUPTI lacks it */
    CW_AVAILABILITY_FUNCTIONS(X)
#undef X
    const char *chip; /* borrowed */
    uint8_t *image;   /* CUPTI's answer; NULL: it gives none */
};

void cw_availability_load(struct cw_availability *availability, void *cupti_library);
/* Asks for a device, which CUPTI knows by its number. Where CUPTI does not tell, no counter is known to be lacking. */
void cw_availability_ask(struct cw_availability *availability, uint32_t device, const char *chip);
void cw_availability_free(struct cw_availability *availability);
/* Whether the chip has a counter ("nvlrx__bytes") that this GPU does not count. */
bool cw_availability_lacks(const struct cw_availability *availability, CUpti_ProfilerType type, const char *counter);

/* Called with each unit, the text before "__", that GPUs of this chip may have and this one has not. */
typedef void cw_availability_unit(void *user, const char *unit, int length);
void cw_availability_units(const struct cw_availability *availability, cw_availability_unit *take, void *user);

#endif
