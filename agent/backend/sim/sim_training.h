/* The program that stands in for one without events: it trains a network, in a few processes with one GPU each. Every
 * kind of capture sees the same program. */
#ifndef CW_AGENT_SIM_TRAINING_H
#define CW_AGENT_SIM_TRAINING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct cw_sim_training {
    uint32_t steps, processes;
    bool unfinished; /* the last process is killed, in the middle of its work after the last flush */
    void (*take)(void *user, const char *line); /* gets its events, as sim.h lists them */
    void *user;
    const struct cw_error *trouble; /* it ends early after an error, and when the agent is asked to end */
};

void cw_sim_train(const struct cw_sim_training *training);

/* Some of its kernels: "_Z11gemm_bf16_nPf". */
enum { CW_SIM_FORWARD_KERNELS = 3 };
extern const char *const cw_sim_forward_kernels[CW_SIM_FORWARD_KERNELS];

#endif
