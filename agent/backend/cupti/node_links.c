#include "agent/backend/cupti/node_links.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LINK_SIZE = 32 };

enum answer { UNKNOWN, NO, YES };

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static void read_links(const struct cw_nvml *nvml, struct cw_node_gpu *gpu)
{
    int known = 0;
    gpu->up = 0;
    for (unsigned link = 0; gpu->device && nvml->nvmlDeviceGetNvLinkState && link < CW_NVML_LINKS; link++) {
        struct cw_nvml_pci *remote = &gpu->remote[gpu->up];
        unsigned is_up = 0;
        const bool tells = nvml->nvmlDeviceGetNvLinkState(gpu->device, link, &is_up) == 0;
        known += tells;
        if (!tells || is_up != 1)
            continue;
        gpu->up++;
        if (!nvml->nvmlDeviceGetNvLinkRemotePciInfo_v2 ||
            nvml->nvmlDeviceGetNvLinkRemotePciInfo_v2(gpu->device, link, remote) != 0)
            *remote = (struct cw_nvml_pci){.domain = ~0U};
    }
    gpu->up = known ? gpu->up : -1;
}

static const struct cw_node_gpu *find(const struct cw_node_gpus *g, void *device)
{
    for (int i = 0; i < g->seen; i++)
        if (g->gpus[i].device == device)
            return &g->gpus[i];
    return NULL;
}

void cw_node_gpus_read(struct cw_node_gpus *g, int count, char (*pci)[32])
{
    struct cw_nvml_pci place;
    unsigned all = 0;
    const struct cw_nvml *nvml = &g->nvml;
    memset(g, 0, sizeof *g);
    cw_nvml_load(&g->nvml);
    for (g->count = 0; g->count < count && g->count < CW_NODE_GPUS; g->count++) {
        struct cw_node_gpu *gpu = &g->gpus[g->count];
        memcpy(gpu->pci, pci[g->count], sizeof gpu->pci);
        gpu->device = cw_nvml_device(nvml, gpu->pci);
    }
    g->seen = g->count;
    if (!nvml->nvmlDeviceGetHandleByIndex_v2 || !nvml->nvmlDeviceGetPciInfo_v3 || !nvml->nvmlDeviceGetCount_v2 ||
        nvml->nvmlDeviceGetCount_v2(&all) != 0)
        all = 0;
    for (unsigned i = 0; i < all && g->seen < CW_NODE_GPUS; i++) {
        struct cw_node_gpu *gpu = &g->gpus[g->seen];
        void *device;
        if (nvml->nvmlDeviceGetHandleByIndex_v2(i, &device) != 0 || find(g, device) ||
            nvml->nvmlDeviceGetPciInfo_v3(device, &place) != 0)
            continue;
        snprintf(gpu->pci, sizeof gpu->pci, "%04x:%02x:%02x.0", place.domain, place.bus, place.device);
        gpu->device = device;
        g->seen++;
    }
    for (int i = 0; i < g->seen; i++)
        read_links(nvml, &g->gpus[i]);
}

/* ---- links ------------------------------------------------------------------------------------------------------ */

static enum answer can(const struct cw_nvml *nvml, void *gpu, void *other, unsigned capability)
{
    unsigned status;
    if (!nvml->nvmlDeviceGetP2PStatus || nvml->nvmlDeviceGetP2PStatus(gpu, other, capability, &status) != 0)
        return UNKNOWN;
    return status ? NO : YES;
}

/* NVML's levels count in tens, from one board to another socket. */
static const char *ancestor(const struct cw_nvml *nvml, void *gpu, void *other)
{
    static const char *const names[] = {"board", "PIX", "PXB", "PHB", "NODE", "SYS"};
    unsigned level = 0;
    if (!nvml->nvmlDeviceGetTopologyCommonAncestor ||
        nvml->nvmlDeviceGetTopologyCommonAncestor(gpu, other, &level) != 0 || level > 50)
        return "";
    return names[level / 10];
}

/* The number of links of `a` that end at `b`. If none does, all lead to a switch, which both need. */
static int links_between(const struct cw_node_gpu *a, const struct cw_node_gpu *b)
{
    unsigned domain, bus, device;
    int direct = 0;
    const bool placed = sscanf(b->pci, "%x:%x:%x", &domain, &bus, &device) == 3;
    for (int i = 0; placed && i < a->up; i++)
        direct += a->remote[i].domain == domain && a->remote[i].bus == bus && a->remote[i].device == device;
    return direct ? direct : a->up < b->up ? a->up : b->up;
}

/* The connection of two GPUs: "NV18" for 18 NVLinks, else what both hang on. Then come "access" if one may read the
 * other's memory, and "atomics". "" if NVML does not say. */
static const char *find_link(const struct cw_node_gpus *g, int gpu, int other, char text[LINK_SIZE])
{
    const struct cw_nvml *nvml = &g->nvml;
    const struct cw_node_gpu *a = &g->gpus[gpu], *b = &g->gpus[other];
    *text = 0;
    if (!a->device || !b->device)
        return text;
    if (a->up > 0 && b->up > 0 && can(nvml, a->device, b->device, CW_NVML_P2P_NVLINK) == YES)
        snprintf(text, LINK_SIZE, "NV%d", links_between(a, b));
    else
        snprintf(text, LINK_SIZE, "%s", ancestor(nvml, a->device, b->device));
    if (*text && can(nvml, a->device, b->device, CW_NVML_P2P_READ) == YES)
        strcat(text, " access");
    if (*text && can(nvml, a->device, b->device, CW_NVML_P2P_ATOMICS) == YES)
        strcat(text, " atomics");
    return text;
}

bool cw_node_links_apart(const struct cw_node_gpus *g, int gpu, int other)
{
    void *a = g->gpus[gpu].device, *b = g->gpus[other].device;
    return a && b && can(&g->nvml, a, b, CW_NVML_P2P_READ) == NO;
}

/* The NUMA node of the CPUs that are nearest to a GPU, or -1. */
static int numa_node(const char *pci)
{
    char path[96], *c;
    int node = -1;
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%.32s/numa_node", pci);
    for (c = path + strlen("/sys/bus/pci/devices/"); *c && *c != '/'; c++)
        *c = (char)tolower((unsigned char)*c);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%d", &node) != 1)
        node = -1;
    if (f)
        fclose(f);
    return node;
}

/* ---- facts ------------------------------------------------------------------------------------------------------ */

static const char *on_or_off(int (*get)(void *, unsigned *, unsigned *), void *gpu)
{
    unsigned now = 0, pending;
    if (!get || get(gpu, &now, &pending) != 0)
        return NULL;
    return now ? "on" : "off";
}

/* Lists the others by their addresses: captures of a GPU are alike, whatever a process is shown. */
static const char *find_peers(const struct cw_node_gpus *g, int gpu, char *text, size_t size)
{
    char link[LINK_SIZE];
    const char *last = "";
    *text = 0;
    for (int done = 0; done < g->seen; done++) {
        int next = -1;
        for (int i = 0; i < g->seen; i++)
            if (strcmp(g->gpus[i].pci, last) > 0 && (next < 0 || strcmp(g->gpus[i].pci, g->gpus[next].pci) < 0))
                next = i;
        const size_t used = strlen(text);
        if (next < 0)
            break;
        last = g->gpus[next].pci;
        if (next != gpu && *find_link(g, gpu, next, link) && used + sizeof g->gpus->pci + sizeof link < size)
            snprintf(text + used, size - used, "%s%s %s", used ? ", " : "", last, link);
    }
    return *text ? text : NULL;
}

void cw_node_gpu_facts(const struct cw_node_gpus *g, int gpu,
                       void (*put)(void *user, const char *key, const char *value), void *user)
{
    const struct cw_nvml *nvml = &g->nvml;
    void *device = g->gpus[gpu].device;
    char numa[16] = "", uuid[96] = "", pcie[48] = "", links[16] = "", peers[CW_LINKS_SIZE];
    unsigned generation, width;
    const int node = numa_node(g->gpus[gpu].pci), up = g->gpus[gpu].up;
    const char *mig = device ? on_or_off(nvml->nvmlDeviceGetMigMode, device) : NULL;
    if (node >= 0)
        snprintf(numa, sizeof numa, "%d", node);
    if (up >= 0)
        snprintf(links, sizeof links, "%d", up);
    /* the parts of a GPU have names of their own */
    if (device && !(mig && strcmp(mig, "on") == 0) && nvml->nvmlDeviceGetUUID &&
        nvml->nvmlDeviceGetUUID(device, uuid, sizeof uuid) != 0)
        *uuid = 0;
    if (device && nvml->nvmlDeviceGetMaxPcieLinkGeneration && nvml->nvmlDeviceGetMaxPcieLinkWidth &&
        nvml->nvmlDeviceGetMaxPcieLinkGeneration(device, &generation) == 0 &&
        nvml->nvmlDeviceGetMaxPcieLinkWidth(device, &width) == 0)
        snprintf(pcie, sizeof pcie, "generation %u x%u", generation, width);
    const struct {
        const char *key, *value;
    } facts[] = {{"numa_node", numa},
                 {"uuid", uuid},
                 {"ecc", device ? on_or_off(nvml->nvmlDeviceGetEccMode, device) : NULL},
                 {"mig", mig},
                 {"pcie", pcie},
                 {"nvlinks", links},
                 {"peers", find_peers(g, gpu, peers, sizeof peers)}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (facts[i].value && *facts[i].value)
            put(user, facts[i].key, facts[i].value);
}

/* ---- table ------------------------------------------------------------------------------------------------------ */

void cw_node_links_row(const struct cw_node_gpus *g, int gpu, char line[CW_LINKS_SIZE])
{
    char link[LINK_SIZE];
    const int node = numa_node(g->gpus[gpu].pci);
    size_t used = (size_t)snprintf(line, CW_LINKS_SIZE, "GPU %-4d", gpu);
    for (int i = 0; i < g->count; i++) {
        find_link(g, gpu, i, link);
        link[strcspn(link, " ")] = 0;
        used += (size_t)snprintf(line + used, CW_LINKS_SIZE - used, "  %-6s", i == gpu ? "-" : *link ? link : "?");
    }
    snprintf(line + used, CW_LINKS_SIZE - used, node < 0 ? "  ?" : "  %d", node);
}

void cw_node_links_head(const struct cw_node_gpus *g, char line[CW_LINKS_SIZE])
{
    size_t used = (size_t)snprintf(line, CW_LINKS_SIZE, "links   ");
    for (int i = 0; i < g->count; i++)
        used += (size_t)snprintf(line + used, CW_LINKS_SIZE - used, "  GPU %-2d", i);
    snprintf(line + used, CW_LINKS_SIZE - used, "  NUMA node");
}
