/* What NVML knows about a node's GPUs and the driver does not: modes, PCI Express, and how two GPUs are connected. */
#ifndef CW_AGENT_NODE_LINKS_H
#define CW_AGENT_NODE_LINKS_H

#include <stdbool.h>

#include "agent/common/nvml.h"

enum { CW_NODE_GPUS = 64, CW_LINKS_SIZE = 960 /* enough for a line of all */ };

struct cw_node_gpus {
    struct cw_nvml nvml;
    int count;
    char pci[CW_NODE_GPUS][32]; /* addresses, in the order of the driver's numbers; "" unknown */
};

/* Gives each fact of a GPU to `put`: numa_node, uuid, ecc, mig, pcie, nvlinks, peers (docs/formats.md, DEVC). */
void cw_node_gpu_facts(const struct cw_node_gpus *gpus, int gpu,
                       void (*put)(void *user, const char *key, const char *value), void *user);
/* A table of the connections, in the words of `nvidia-smi topo`: its head, and the row of a GPU. */
void cw_node_links_head(const struct cw_node_gpus *gpus, char line[CW_LINKS_SIZE]);
void cw_node_links_row(const struct cw_node_gpus *gpus, int gpu, char line[CW_LINKS_SIZE]);
/* Whether two GPUs cannot reach each other's memory. */
bool cw_node_links_apart(const struct cw_node_gpus *gpus, int gpu, int other);

#endif
