/* Finds the counters that this GPU has. CUPTI accepts counters of a missing or disabled unit, such as NVLink without a
 * link, because the chip may have it. It refuses them if it gets the GPU's own counter availability. */
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
#define X(name) __typeof__(&name) name; /* NULL if this CUPTI lacks it */
    CW_AVAILABILITY_FUNCTIONS(X)
#undef X
    const char *chip; /* borrowed */
    uint8_t *image;   /* CUPTI's answer; NULL: it gives none */
};

void cw_availability_load(struct cw_availability *availability, void *cupti_library);
/* Asks CUPTI about a device by number. Without an answer, no counter is known to be missing. */
void cw_availability_ask(struct cw_availability *availability, uint32_t device, const char *chip);
void cw_availability_free(struct cw_availability *availability);
/* Whether the chip has a counter ("nvlrx__bytes") that this GPU does not have. */
bool cw_availability_lacks(const struct cw_availability *availability, CUpti_ProfilerType type, const char *counter);

/* Called with each unit, the text before "__", that GPUs of this chip may have and this one lacks. */
typedef void cw_availability_unit(void *user, const char *unit, int length);
void cw_availability_units(const struct cw_availability *availability, cw_availability_unit *take, void *user);

#endif
