/* A simulated GPU: its numbers follow from the seed alone, with instances and noise from pass to pass. Like hardware,
 * it refuses a plan whose passes break the chip's limits. */
#ifndef CW_AGENT_SIM_GPU_H
#define CW_AGENT_SIM_GPU_H

#include "agent/backend/backend.h"
#include "agent/common/facts.h"
#include "image/config_image.h"
#include "image/counter_data.h"

/* Keeps the numbers of a plan's counters plausible: a counter never exceeds its peak in the active cycles of its unit,
 * nor the counter whose name it continues (hits are at most lookups), and time and cycles agree. */
struct cw_sim_model;
/* In `arena`; NULL when out of memory. */
const struct cw_sim_model *cw_sim_model_make(const struct cw_config_image *plan, struct cw_arena *arena);

/* Computes the count of a counter in one instance. `share`: the share of its limit that a raw counter reaches, from 0
 * to 1. */
struct cw_sim_moment {
    double ns;    /* duration */
    uint64_t key; /* identifies the running work */
    double (*share)(const void *of, uint32_t raw, uint32_t instance);
    const void *of;
};
double cw_sim_model_count(const struct cw_sim_model *model, const struct cw_sim_moment *moment, uint32_t counter,
                          uint32_t instance);

struct cw_sim_gpu {
    const struct cw_sim_model *model;
    uint64_t seed;
    const char *lacks; /* a unit whose counters it lacks; NULL: none */
    const struct cw_config_image *plan;
    const struct cw_schema *schema;
    double **instances; /* by column */
    struct cw_value *values;
    uint64_t *keys; /* by raw counter, for the current range */
    double *durations;
    struct cw_device_facts *facts;
};

/* Opens a GPU that records the columns of `schema`, each in its own pass. Everything lives in `arena`. */
enum cw_status cw_sim_gpu_open(struct cw_sim_gpu *gpu, const struct cw_config_image *plan,
                               const struct cw_schema *schema, uint64_t seed, struct cw_arena *arena,
                               struct cw_error *err);
/* Fills in values and durations of a range, which follow from `of`, its content. `launch` numbers similar ranges from
 * 1: they differ by up to 1 %, except for instructions, which are equal. ns: approximate duration; 0: computed from
 * `of` as well. */
void cw_sim_gpu_range(struct cw_sim_gpu *gpu, uint64_t of, uint32_t launch, uint64_t ns);
/* Refuses a plan whose passes break the limits, as hardware would. */
enum cw_status cw_sim_check_limits(const struct cw_config_image *plan, struct cw_error *err);
/* When programs begin, on the wall clock. */
#define CW_SIM_START_NS UINT64_C(1700000000000000000)
/* Number of instances of a counter, and its peaks. */
struct cw_device_facts cw_sim_facts(const struct cw_config_counter *counter);
/* Writes the device attributes that every kind of capture has, into room for CW_SIM_ATTRIBUTES; returns their number.
 * The limits are an H100's. */
enum { CW_SIM_ATTRIBUTES = 22 };
uint32_t cw_sim_describe(struct cw_pair *attributes, const char *chip);
/* Writes the rank of this process in its parallel job, if it is in one; returns the number of attributes. */
uint32_t cw_sim_describe_rank(struct cw_pair attributes[2]);
/* Facts of a launch, which follow from the kernel's name and fit the device's limits. */
void cw_sim_launch_facts(const char *kernel, double facts[CW_FACT__COUNT]);
/* Keys of the program and of its kernels, from which all numbers follow. */
uint64_t cw_sim_program_key(const struct cw_capture_options *options);
uint64_t cw_sim_kernel_key(uint64_t program, const char *kernel);
/* Number of blocks of a kernel's grid, of 128 threads each, by its key. */
uint32_t cw_sim_grid(uint64_t key);
/* Approximate duration of a launch. */
uint64_t cw_sim_kernel_ns(const char *kernel);
/* Name of the kernel of a CUDA graph's node: four kernels take turns, with names that begin with `nodes`. */
enum { CW_SIM_NODE_SIZE = 160 };
const char *cw_sim_node_kernel(const char *nodes, uint32_t node, char name[CW_SIM_NODE_SIZE]);
/* Mixes a key into a uniform number. */
uint64_t cw_sim_mix(uint64_t key);
uint64_t cw_sim_text_key(const char *text);

#endif
