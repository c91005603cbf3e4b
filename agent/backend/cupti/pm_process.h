/* State shared by the parts of the sampling process. The process is separate from the agent (pm_sampler.h): any failure
 * ends it. */
#ifndef CW_AGENT_PM_PROCESS_H
#define CW_AGENT_PM_PROCESS_H

#include <pthread.h>
#include <string.h>

#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>

#include "agent/backend/backend.h"
#include "agent/backend/cupti/availability.h"
#include "agent/common/cupti_api.h"
#include "agent/common/message.h"
#include "agent/session/node_facts.h"
#include "image/pm_data.h"

#define CW_PM_FUNCTIONS(X)                                                                                             \
    X(cuptiPmSamplingEnable)                                                                                           \
    X(cuptiPmSamplingSetConfig)                                                                                        \
    X(cuptiPmSamplingGetCounterDataSize)                                                                               \
    X(cuptiPmSamplingCounterDataImageInitialize)                                                                       \
    X(cuptiPmSamplingStart)                                                                                            \
    X(cuptiPmSamplingStop)                                                                                             \
    X(cuptiPmSamplingDecodeData)                                                                                       \
    X(cuptiPmSamplingGetCounterDataInfo)                                                                               \
    X(cuptiPmSamplingCounterDataGetSampleInfo)                                                                         \
    X(cuptiPmSamplingDisable)                                                                                          \
    X(cuptiProfilerHostInitialize)                                                                                     \
    X(cuptiProfilerHostEvaluateToGpuValues)

struct cw_pm_process {
    const struct cw_pm_options *options;
    uint32_t device; /* the sampled device */
    const struct cw_schema *schema;
    const struct cw_writer *native; /* NVIDIA's config image: first of the whole plan, then without missing counters */
    const struct cw_node_facts *node; /* NULL, or has further attributes of the device */
    int fd;
    struct cw_cupti api;
    struct cw_availability availability;
#define X(name) __typeof__(&name) name;
    CW_PM_FUNCTIONS(X)
#undef X
    uint64_t interval; /* chosen interval between samples: */
    bool cycles;       /* in cycles of the system clock; else in ns */
    double sample_takes_ns;
    uint64_t window_ns; /* limit on the length of a sampling window; 0: none, or sample all the time */
    uint8_t *lacks;     /* by counter: this GPU lacks it; NULL: it has all */
    size_t image_size;
    uint32_t image_samples; /* room of an image */
    pthread_mutex_t lock;   /* for the members below, which the two threads share */
    pthread_cond_t changed;
    struct cw_pm_image {          /* one of CUPTI's counter data images, with its state */
        struct cw_pm_image *next; /* next image of its list */
        uint8_t *bytes;
        bool overflow;   /* the hardware's buffer was full */
        bool artificial; /* its first sample spans from the start of sampling to the first trigger */
        uint32_t count;
        uint64_t taking_ns;                    /* time taken to fill it with these samples */
        bool opens, closes;                    /* has the first samples of a window, and the last */
        uint64_t lost;                         /* samples of the window lost in the hardware's buffer */
        uint64_t *start, *end;                 /* times of its samples */
    } * spare;                                 /* empty images */
    struct cw_pm_image *filled, **filled_last; /* images to be sent, in order, and the place for the next */
    uint32_t image_count;                      /* number of all images */
    bool last_filled;
    bool device_sent;
    uint64_t sample_ns; /* time per sample of the slower thread; set by the sender */
};
extern struct cw_pm_process cw_pm_process;

#define PARAMS(type, variable)                                                                                         \
    type variable;                                                                                                     \
    memset(&variable, 0, sizeof variable);                                                                             \
    variable.structSize = type##_STRUCT_SIZE
#define CALL(name, params) cw_pm_good(cw_pm_process.name(&(params)), #name)

/* Loads the driver and CUPTI, checks the chip, and prepares the reading of the GPU's clock. */
void cw_pm_load(void);
/* Sends a message; the agent being gone ends this process. */
void cw_pm_send(enum cw_message_type type, const void *payload, size_t size);
/* Reports the reason to the agent and ends the process. */
__attribute__((noreturn, format(printf, 2, 3))) void cw_pm_give_up(enum cw_status status, const char *format, ...);
/* Give up if memory is missing, or if a call has failed. */
void cw_pm_need(bool condition);
void cw_pm_good(CUptiResult result, const char *call);
/* Sends whole chunks, with the number of samples in them and of samples lost before them. */
void cw_pm_send_chunks(uint32_t samples, uint64_t lost, const struct cw_writer *chunks);
/* Reads a pair of the device's clock and the wall's, and sends it once the device is sent. */
void cw_pm_correlate(void);
/* Sends the pair of device clock and wall clock that waits for the device to be sent. */
void cw_pm_send_clock(void);

void cw_pm_tell_window(enum cw_window_state state);

/* Makes the config image without missing counters. */
void cw_pm_lower(void);

/* From hardware to images: find this GPU's counters and the interval, and configure it; start sampling; fill images
 * until the agent or the duration ends it. */
void cw_pm_choose(void);
void cw_pm_arm(void);
void cw_pm_start(void);
void cw_pm_collect(void);
void cw_pm_disarm(void);
/* Samples that take so long or longer are decoded while they come: CUPTI takes 10 to 30 us for each. */
#define CW_PM_SLOW_NS 50000
/* Limit on samples in a block of the file; size of the hardware's buffer. */
uint32_t cw_pm_block_room(void);
uint64_t cw_pm_buffer_bytes(void);

/* From images to columns. cw_pm_begin_images, called once the device is armed, starts a thread that sends every filled
 * image. cw_pm_end_images, called once no more are filled, ends it; it sends the device if no image had a sample, and
 * returns false if the full hardware buffer was the reason. */
void cw_pm_begin_images(void);
bool cw_pm_end_images(void);

#endif
