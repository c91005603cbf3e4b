/* What the parts of the sampling process share. It is a process of its own (pm_sampler.h): whatever goes wrong ends it.
 */
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

struct cw_pm_image {          /* a counter data image of CUPTI's with what is known of it */
    struct cw_pm_image *next; /* in its list */
    uint8_t *bytes;
    bool overflow;   /* the hardware's buffer had been full */
    bool artificial; /* its first sample spans from the start of the sampling to the first trigger */
    uint32_t count;
    uint64_t taking_ns;    /* what it took to fill it with these */
    bool window;           /* it has all samples of one */
    uint64_t lost;         /* samples of it, with the hardware's buffer */
    uint64_t *start, *end; /* of its samples */
};

struct cw_pm_process {
    const struct cw_pm_options *options;
    uint32_t device; /* the one that this process samples */
    const struct cw_schema *schema;
    const struct cw_writer *native; /* NVIDIA's config image: of the whole plan, then of what the GPU does not lack */
    int fd;
    struct cw_cupti api;
    struct cw_availability availability;
#define X(name) __typeof__(&name) name;
    CW_PM_FUNCTIONS(X)
#undef X
    uint64_t interval; /* between samples, as it is chosen: */
    bool cycles;       /* of the system clock; else ns */
    double sample_takes_ns;
    uint64_t window_ns; /* how long to sample at a time; 0: all the time */
    uint8_t *lacks;     /* for each counter: this GPU does not count it; NULL: it counts all */
    size_t image_size;
    uint32_t image_samples; /* room in an image */
    pthread_mutex_t lock;   /* for what follows, which the two threads share */
    pthread_cond_t changed;
    struct cw_pm_image *spare;                 /* images that hold nothing */
    struct cw_pm_image *filled, **filled_last; /* those to be sent, in order, and where the next is put */
    uint32_t image_count;                      /* all of them */
    bool last_filled;
    bool device_sent;
    uint64_t sample_ns; /* what a sample takes the slower of the two threads; the sender's */
};
extern struct cw_pm_process cw_pm_process;

#define PARAMS(type, variable)                                                                                         \
    type variable;                                                                                                     \
    memset(&variable, 0, sizeof variable);                                                                             \
    variable.structSize = type##_STRUCT_SIZE
#define CALL(name, params) cw_pm_good(cw_pm_process.name(&(params)), #name)

/* Tells the agent why and ends the process. */
__attribute__((noreturn, format(printf, 2, 3))) void cw_pm_give_up(enum cw_status status, const char *format, ...);
/* Gives up where memory is not there, or a call has failed. */
void cw_pm_need(bool condition);
void cw_pm_good(CUptiResult result, const char *call);
uint64_t cw_pm_now_ns(void);
/* Sends whole chunks: how many samples are in them, and how many were lost before them. */
void cw_pm_send_chunks(uint32_t samples, uint64_t lost, const struct cw_writer *chunks);
/* Sends the pair of the device's clock and the wall's that waits for the device to be sent. */
void cw_pm_send_clock(void);

void cw_pm_tell_window(enum cw_window_state state);

/* Makes the config image of what the GPU does not lack. */
void cw_pm_lower(void);

/* Hardware to images: finds out what this GPU counts, and at which interval, and configures it; starts sampling; fills
 * images until the agent or the duration ends it. */
void cw_pm_choose(void);
void cw_pm_arm(void);
void cw_pm_start(void);
void cw_pm_collect(void);
void cw_pm_disarm(void);
/* The most samples in a block of the file; and the hardware's buffer. */
uint32_t cw_pm_block_room(void);
uint64_t cw_pm_buffer_bytes(void);

/* A few samples of a device that is armed, and stays it. */
struct cw_pm_trial {
    size_t begun, complete;
    uint64_t first_ns, last_ns; /* when the first and the last complete one ended, on the device's clock */
};
struct cw_pm_trial cw_pm_try(void);

/* Images to columns: to begin once armed, a thread that sends every image that is filled; and to end once no more is
 * filled, which sends the device where no image had a sample. False where that is because the hardware's buffer was
 * full. */
void cw_pm_begin_images(void);
bool cw_pm_end_images(void);

#endif
