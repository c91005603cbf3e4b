/* A simulated GPU: numbers that follow from the seed alone, with instances and noise from pass to pass. It refuses a
 * plan whose passes break the chip's limits, as hardware would. */
#ifndef CW_AGENT_SIM_GPU_H
#define CW_AGENT_SIM_GPU_H

#include "agent/backend/backend.h"
#include "agent/common/facts.h"
#include "image/config_image.h"
#include "image/counter_data.h"

/* What keeps the numbers of a plan's counters possible: no counter exceeds its peak in the cycles that its unit is
 * active, none exceeds the counter whose name it continues (hits are at most lookups), and time and cycles agree. */
struct cw_sim_model {
    const struct cw_config_image *plan;
    double *caps;      /* of each raw counter: the most for each active cycle */
    uint32_t *parents; /* of each counter: the one whose name it continues; UINT32_MAX: none */
    uint8_t *kinds;
};
enum cw_status cw_sim_model_make(struct cw_sim_model *model, const struct cw_config_image *plan, struct cw_arena *arena,
                                 struct cw_error *err);

/* What a counter counts in one instance. `share`: how much of what is possible a raw counter counts, from 0 to 1. */
struct cw_sim_moment {
    double ns;    /* how long it took */
    uint64_t key; /* of what runs */
    double (*share)(const void *of, uint32_t raw, uint32_t instance);
    const void *of;
};
double cw_sim_model_count(const struct cw_sim_model *model, const struct cw_sim_moment *moment, uint32_t counter,
                          uint32_t instance);

struct cw_sim_gpu {
    struct cw_sim_model model;
    uint64_t seed;
    const char *lacks; /* the unit whose counters it lacks; NULL: none */
    const struct cw_config_image *plan;
    const struct cw_schema *schema;
    double **instances; /* for each column */
    struct cw_value *values;
    uint64_t *keys; /* of each raw counter, for what the range is of */
    double *durations;
    struct cw_device_facts *facts;
};

/* Records the columns of `schema`, each of its own pass. Everything lives in `arena`. */
enum cw_status cw_sim_gpu_open(struct cw_sim_gpu *gpu, const struct cw_config_image *plan,
                               const struct cw_schema *schema, uint64_t seed, struct cw_arena *arena,
                               struct cw_error *err);
/* Fills in values and durations of a range. They follow from what it is of. Of things that are alike, `launch` is a
 * number above 0: they differ by up to 1 %, but for instructions, which are the same in each. ns: about how long it
 * takes; 0: that follows as well. */
void cw_sim_gpu_range(struct cw_sim_gpu *gpu, uint64_t of, uint32_t launch, uint64_t ns);
/* Refuses a plan whose passes break the limits, as hardware would. */
enum cw_status cw_sim_check_limits(const struct cw_config_image *plan, struct cw_error *err);
/* How many instances a counter has, and its peaks. */
struct cw_device_facts cw_sim_facts(const struct cw_config_counter *counter);
/* The attributes of a device that all ways to collect give, into room for CW_SIM_ATTRIBUTES; returns how many. Its
 * limits are an H100's. */
enum { CW_SIM_ATTRIBUTES = 22 };
uint32_t cw_sim_describe(struct cw_pair *attributes, const char *chip);
/* Those of this process in its parallel job, where it is in one. */
uint32_t cw_sim_describe_rank(struct cw_pair attributes[2]);
/* Facts of a launch, which follow from the kernel's name and fit the device's limits. */
void cw_sim_launch_facts(const char *kernel, double facts[CW_FACT__COUNT]);
/* What all that the program does follows from, and its kernels. */
uint64_t cw_sim_program_key(const struct cw_capture_options *options);
uint64_t cw_sim_kernel_key(uint64_t program, const char *kernel);
/* The blocks of a kernel's grid, of 128 threads each, by its key. */
uint32_t cw_sim_grid(uint64_t key);
/* How long a launch takes, about. */
uint64_t cw_sim_kernel_ns(const char *kernel);
/* The kernel of a CUDA graph's node: four take turns, whose names begin with `nodes`. */
enum { CW_SIM_NODE_SIZE = 160 };
const char *cw_sim_node_kernel(const char *nodes, uint32_t node, char name[CW_SIM_NODE_SIZE]);
/* A well-mixed number for each key. */
uint64_t cw_sim_mix(uint64_t key);
uint64_t cw_sim_text_key(const char *text);

#endif
