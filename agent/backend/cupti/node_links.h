/* What NVML knows about a node's GPUs and the driver does not: modes, PCI Express, and how two GPUs are connected. */
#ifndef CW_AGENT_NODE_LINKS_H
#define CW_AGENT_NODE_LINKS_H

#include <stdbool.h>

#include "agent/common/nvml.h"

enum { CW_NODE_GPUS = 64, CW_LINKS_SIZE = 960 /* enough for a line of all */ };

struct cw_node_gpus {
    struct cw_nvml nvml;
    int count, seen; /* GPUs that the driver shows, and those with others that NVML alone shows */
    struct cw_node_gpu {
        char pci[32];                             /* its address; "" unknown */
        void *device;                             /* NVML's; NULL unknown */
        int up;                                   /* NVLinks that are up; -1 unknown */
        struct cw_nvml_pci remote[CW_NVML_LINKS]; /* the other ends of these, as far as NVML knows them */
    } gpus[CW_NODE_GPUS];                         /* in the order of the driver's numbers, then others */
};

/* Loads NVML and reads the GPUs, of which the driver shows `count`, by their addresses. */
void cw_node_gpus_read(struct cw_node_gpus *gpus, int count, char (*pci)[32]);
/* Gives each fact of a GPU to `put`: numa_node, uuid, ecc, mig, pcie, nvlinks, peers (docs/formats.md, DEVC). */
void cw_node_gpu_facts(const struct cw_node_gpus *gpus, int gpu,
                       void (*put)(void *user, const char *key, const char *value), void *user);
/* A table of the connections between the GPUs that the driver shows, in the words of `nvidia-smi topo`: its head, and
 * the row of a GPU. */
void cw_node_links_head(const struct cw_node_gpus *gpus, char line[CW_LINKS_SIZE]);
void cw_node_links_row(const struct cw_node_gpus *gpus, int gpu, char line[CW_LINKS_SIZE]);
/* Whether NVML says that two GPUs cannot reach each other's memory. */
bool cw_node_links_apart(const struct cw_node_gpus *gpus, int gpu, int other);

#endif
