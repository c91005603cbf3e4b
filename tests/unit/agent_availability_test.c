/* Units that a GPU lacks, of a CUPTI of the test's own: it refuses what the GPU lacks where it knows the GPU. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/backend/cupti/availability.h"

static const char *const counters[] = {"sm__cycles_active", "nvlrx__bytes",   "nvlrx__packets",
                                       "sm__inst_executed", "ctc__rx_bytes",  "CTC.TriageCompute.ctc__rx_bytes",
                                       "sms__other",        "without_a_unit", "odd__refused_either_way"};
enum { COUNT = sizeof counters / sizeof *counters };
static char of_gpu, of_chip;
static int open_hosts;

static CUptiResult ask(CUpti_PmSampling_GetCounterAvailability_Params *p)
{
    cr_expect(p->deviceIndex == 2);
    if (p->pCounterAvailabilityImage)
        memset(p->pCounterAvailabilityImage, 1, 8);
    p->counterAvailabilityImageSize = 8;
    return CUPTI_SUCCESS;
}

static CUptiResult do_not_tell(CUpti_PmSampling_GetCounterAvailability_Params *p)
{
    p->counterAvailabilityImageSize = 8;
    return p->pCounterAvailabilityImage ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

static CUptiResult initialize(CUpti_Profiler_Host_Initialize_Params *p)
{
    cr_expect_str_eq(p->pChipName, "GH100");
    p->pHostObject = (CUpti_Profiler_Host_Object *)(void *)(p->pCounterAvailabilityImage ? &of_gpu : &of_chip);
    open_hosts++;
    return CUPTI_SUCCESS;
}

static CUptiResult deinitialize(CUpti_Profiler_Host_Deinitialize_Params *p)
{
    cr_expect(p->pHostObject != NULL);
    open_hosts--;
    return CUPTI_SUCCESS;
}

static CUptiResult base_metrics(CUpti_Profiler_Host_GetBaseMetrics_Params *p)
{
    p->ppMetricNames = (const char **)(void *)counters;
    p->numMetrics = COUNT;
    return CUPTI_SUCCESS;
}

static CUptiResult add(CUpti_Profiler_Host_ConfigAddMetrics_Params *p)
{
    const char *name = p->ppMetricNames[0];
    cr_assert(p->numMetrics == 1 && strcmp(name + strlen(name) - 4, ".sum") == 0);
    if (strncmp(name, "odd__", 5) == 0)
        return CUPTI_ERROR_INVALID_PARAMETER;
    bool lacking = strncmp(name, "nvlrx__", 7) == 0 || strncmp(name, "ctc__", 5) == 0;
    return lacking && (void *)p->pHostObject == &of_gpu ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

static struct cw_availability availability;

static void begin(void)
{
    availability = (struct cw_availability){ask, initialize, deinitialize, base_metrics, add, NULL, NULL};
}

static void end(void)
{
    cw_availability_free(&availability);
    cr_expect(open_hosts == 0);
}

TestSuite(agent_availability, .init = begin, .fini = end);

static void list(void *user, const char *unit, int length)
{
    char *text = user;
    sprintf(text + strlen(text), "%.*s;", length, unit);
}

Test(agent_availability, names_units_once_by_their_first_counter)
{
    char text[100] = "";
    cw_availability_ask(&availability, 2, "GH100");
    cw_availability_units(&availability, list, text);
    cr_expect_str_eq(text, "nvlrx;ctc;");
}

Test(agent_availability, tells_of_a_counter)
{
    cw_availability_ask(&availability, 2, "GH100");
    cr_expect(cw_availability_lacks(&availability, CUPTI_PROFILER_TYPE_PM_SAMPLING, "nvlrx__bytes"));
    cr_expect(!cw_availability_lacks(&availability, CUPTI_PROFILER_TYPE_PM_SAMPLING, "sm__cycles_active"));
    cr_expect(!cw_availability_lacks(&availability, CUPTI_PROFILER_TYPE_PM_SAMPLING, "odd__refused_either_way"));
}

static void check_silent(void)
{
    char text[100] = "";
    cw_availability_ask(&availability, 2, "GH100");
    cw_availability_units(&availability, list, text);
    cr_expect_str_eq(text, "");
    cr_expect(!cw_availability_lacks(&availability, CUPTI_PROFILER_TYPE_PM_SAMPLING, "nvlrx__bytes"));
}

Test(agent_availability, a_cupti_that_does_not_tell_refuses_nothing)
{
    availability.cuptiPmSamplingGetCounterAvailability = do_not_tell;
    check_silent();
}

Test(agent_availability, an_older_cupti_is_not_asked)
{
    availability.cuptiProfilerHostConfigAddMetrics = NULL;
    check_silent();
}
