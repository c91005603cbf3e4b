#include "agent/backend/cupti/node_links.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LINK_SIZE = 32 };

/* NVLinks that are up; -1: unknown. */
static int links_up(const struct cw_nvml *nvml, void *gpu)
{
    int up = 0, known = 0;
    for (unsigned link = 0; gpu && nvml->nvmlDeviceGetNvLinkState && link < CW_NVML_LINKS; link++) {
        unsigned is_up = 0;
        if (nvml->nvmlDeviceGetNvLinkState(gpu, link, &is_up) != 0)
            continue;
        known++;
        up += is_up == 1;
    }
    return known ? up : -1;
}

static bool can(const struct cw_nvml *nvml, void *gpu, void *other, unsigned capability)
{
    unsigned status = 1;
    return nvml->nvmlDeviceGetP2PStatus && nvml->nvmlDeviceGetP2PStatus(gpu, other, capability, &status) == 0 &&
           !status;
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

/* The connection of two GPUs: "NV18" for 18 NVLinks, else what both hang on. Then come "access" if one may read the
 * other's memory, and "atomics". "" if NVML does not say.
 * NVML says of a pair only whether NVLink connects it: through a switch, which all links lead to, or directly by links
 * that may be fewer. The smaller number of links that are up is what both can have. */
static const char *find_link(const struct cw_node_gpus *g, int gpu, int other, char text[LINK_SIZE])
{
    const struct cw_nvml *nvml = &g->nvml;
    void *a = cw_nvml_device(nvml, g->pci[gpu]), *b = cw_nvml_device(nvml, g->pci[other]);
    *text = 0;
    if (!a || !b)
        return text;
    const int up_a = links_up(nvml, a), up_b = links_up(nvml, b), up = up_a < up_b ? up_a : up_b;
    if (up > 0 && can(nvml, a, b, CW_NVML_P2P_NVLINK))
        snprintf(text, LINK_SIZE, "NV%d", up);
    else
        snprintf(text, LINK_SIZE, "%s", ancestor(nvml, a, b));
    if (*text && can(nvml, a, b, CW_NVML_P2P_READ))
        strcat(text, " access");
    if (*text && can(nvml, a, b, CW_NVML_P2P_ATOMICS))
        strcat(text, " atomics");
    return text;
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

static const char *find_peers(const struct cw_node_gpus *g, int gpu, char *text, size_t size)
{
    char link[LINK_SIZE];
    *text = 0;
    for (int i = 0; i < g->count; i++) {
        const size_t used = strlen(text);
        if (i != gpu && *find_link(g, gpu, i, link) && used + sizeof g->pci[i] + sizeof link < size)
            snprintf(text + used, size - used, "%s%s %s", used ? ", " : "", g->pci[i], link);
    }
    return *text ? text : NULL;
}

void cw_node_gpu_facts(const struct cw_node_gpus *g, int gpu,
                       void (*put)(void *user, const char *key, const char *value), void *user)
{
    const struct cw_nvml *nvml = &g->nvml;
    void *device = cw_nvml_device(nvml, g->pci[gpu]);
    char numa[16] = "", uuid[96] = "", pcie[48] = "", links[16] = "", peers[CW_LINKS_SIZE];
    unsigned generation, width;
    const int node = numa_node(g->pci[gpu]), up = links_up(nvml, device);
    if (node >= 0)
        snprintf(numa, sizeof numa, "%d", node);
    if (up >= 0)
        snprintf(links, sizeof links, "%d", up);
    if (device && nvml->nvmlDeviceGetUUID && nvml->nvmlDeviceGetUUID(device, uuid, sizeof uuid) != 0)
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
                 {"mig", device ? on_or_off(nvml->nvmlDeviceGetMigMode, device) : NULL},
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
    const int node = numa_node(g->pci[gpu]);
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

bool cw_node_links_apart(const struct cw_node_gpus *g, int gpu, int other)
{
    char link[LINK_SIZE];
    return *find_link(g, gpu, other, link) && !strstr(link, "access");
}
