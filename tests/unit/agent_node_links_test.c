/* Links of a node's GPUs, by a management library without a GPU: support/fake_nvml.c. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "agent/backend/cupti/node_links.h"
#include "agent/session/node_facts.h"
#include "image/counter_data.h"

static char pci[][32] = {"0000:0a:00.0", "0000:0c:00.0", "0000:0d:00.0"};
static struct cw_node_gpus gpus;

static void load(const char *links, const char *level)
{
    setenv("FAKE_NVML_LINKS", links, 1);
    setenv("FAKE_NVML_LEVEL", level, 1);
    cw_node_gpus_read(&gpus, 3, pci);
}

static void put(void *user, const char *key, const char *value)
{
    strcat(strcat(strcat(strcat(user, key), "="), value), "\n");
}

static const char *facts(int gpu)
{
    static char text[2000];
    *text = 0;
    cw_node_gpu_facts(&gpus, gpu, put, text);
    return text;
}

Test(node_links, facts_name_modes_and_peers)
{
    load("18 12 0", "50");
    cr_expect_str_eq(facts(0), "uuid=GPU-0\necc=on\nmig=off\npcie=generation 5 x16\nnvlinks=18\n"
                               "peers=0000:0c:00.0 NV12 access atomics, 0000:0d:00.0 SYS\n");
    cr_expect_str_eq(facts(2), "uuid=GPU-2\necc=off\nnvlinks=0\npeers=0000:0a:00.0 SYS, 0000:0c:00.0 SYS\n");
}

Test(node_links, a_GPU_that_the_library_does_not_know_has_no_facts)
{
    strcpy(pci[1], "0000:0e:00.0");
    load("", "");
    cr_expect_str_eq(facts(1), "");
    cr_expect_str_eq(facts(2), "uuid=GPU-2\necc=off\n", "nor links that the library does not tell");
    setenv("FAKE_NVML_ABSENT", "1", 1);
    load("", "");
    cr_expect_str_eq(facts(0), "");
}

Test(node_links, GPUs_without_a_switch_have_the_links_that_end_at_each_other)
{
    setenv("FAKE_NVML_DIRECT", "4", 1);
    load("12 12 12", "40");
    cr_expect_str_eq(strstr(facts(0), "peers="),
                     "peers=0000:0c:00.0 NV4 access atomics, 0000:0d:00.0 NV8 access atomics\n");
}

Test(node_links, peers_are_the_same_whatever_a_process_is_shown)
{
    char all[2000];
    load("18 18 18", "40");
    strcpy(all, facts(1));
    setenv("FAKE_NVML_GPUS", "3", 1);
    cw_node_gpus_read(&gpus, 1, pci + 1);
    cr_expect(gpus.count == 1 && gpus.seen == 3);
    cr_expect_str_eq(facts(0), all);
}

Test(node_links, a_table_has_a_row_for_each)
{
    char line[CW_LINKS_SIZE];
    load("18 18 0", "40");
    cw_node_links_head(&gpus, line);
    cr_expect_str_eq(line, "links     GPU 0   GPU 1   GPU 2   NUMA node");
    cw_node_links_row(&gpus, 1, line);
    cr_expect_str_eq(line, "GPU 1     NV18    -       NODE    ?");
    cw_node_links_row(&gpus, 2, line);
    cr_expect_str_eq(line, "GPU 2     NODE    NODE    -       ?");
    cr_expect(!cw_node_links_apart(&gpus, 0, 1) && cw_node_links_apart(&gpus, 0, 2));
    setenv("FAKE_NVML_ABSENT", "1", 1);
    load("18 18 0", "40");
    cr_expect(!cw_node_links_apart(&gpus, 0, 2), "nothing is known");
}

Test(node_links, captures_get_what_their_process_does_not_know)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_node_facts *node = cw_node_facts_create(arena);
    const struct cw_pair own[] = {{"name", "of the process"}, {"pci", "0000:0c:00.0"}};
    struct cw_device device = {.attribute_count = 2, .attributes = own};
    for (uint32_t i = 0; i < 2; i++) {
        cr_assert(cw_node_facts_join(node, &device, arena));
        cr_expect_eq(device.attribute_count, 2, "no GPU of the facts has this address");
        cw_node_facts_gpu(node, i, "GH100");
        cw_node_facts_attribute(node, "name", "of the node");
        cw_node_facts_attribute(node, "pci", pci[i]);
        cw_node_facts_attribute(node, "rank", "7");
        cw_node_facts_attribute(node, "uuid", i ? "GPU-1" : "GPU-0");
    }
    cr_assert(cw_node_facts_join(node, &device, arena));
    cr_assert_eq(device.attribute_count, 3);
    cr_expect_str_eq(cw_device_attribute(&device, "name"), "of the process");
    cr_expect_str_eq(cw_device_attribute(&device, "uuid"), "GPU-1");
    cr_assert(cw_node_facts_join(NULL, &device, arena));
    cr_expect_eq(device.attribute_count, 3);
    cw_arena_destroy(arena);
}
