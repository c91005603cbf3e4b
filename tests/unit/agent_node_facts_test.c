#define _GNU_SOURCE
/* What doctor --facts writes is what metric-config --device-facts reads. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/session/node_facts.h"
#include "metricdb/node.h"

static struct cw_node_facts *facts;
static struct cw_arena *arena;
static char path[] = "node_facts_XXXXXX";
static struct cw_error err;

static void setup(void)
{
    arena = cw_arena_create();
    cr_assert(arena && (facts = cw_node_facts_create(arena)));
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    close(fd);
    err = (struct cw_error)CW_ERROR_INIT;
}

static void teardown(void)
{
    cw_arena_destroy(arena);
    unlink(path);
}

TestSuite(node_facts, .init = setup, .fini = teardown);

Test(node_facts, are_read_as_they_were_written)
{
    struct cw_node node;
    char unit[16];
    for (uint32_t i = 0; i < 20; i++) {
        cw_node_facts_gpu(facts, i, i == 7 ? "GA100" : "GH100");
        cw_node_facts_attribute(facts, "name", "NVIDIA \"H100\": {80GB}\n\x1b[2J\xff");
        cw_node_facts_attribute(facts, "multiprocessors", "132");
        if (i == 7)
            continue;
        cw_node_facts_does(facts, "range");
        cw_node_facts_does(facts, i == 1 ? "pc" : "pm");
        cw_node_facts_lacks(facts, NULL);
        for (uint32_t k = 0; k < i; k++) {
            snprintf(unit, sizeof unit, "unit%u", k);
            cw_node_facts_lacks(facts, unit);
        }
    }
    cr_assert_eq(cw_node_facts_write(facts, path, &err), CW_OK, "%s", err.message);
    cr_assert_eq(cw_node_load(&node, path, arena, &err), CW_OK, "%s", err.message);
    cr_assert_eq(node.count, 20);
    for (uint32_t i = 0; i < 20; i++) {
        const struct cw_node_gpu *gpu = &node.gpus[i];
        cr_expect(gpu->number == i && gpu->lack_count == (i == 7 ? 0 : i));
        cr_expect(gpu->does_range == (i != 7) && gpu->does_pm == (i != 7 && i != 1));
        cr_expect_str_eq(gpu->chip, i == 7 ? "GA100" : "GH100");
    }
    cr_expect_str_eq(node.gpus[19].lacks[18], "unit18");
}

Test(node_facts, a_node_without_a_GPU_has_none)
{
    cw_node_facts_attribute(facts, "name", "of nothing");
    cw_node_facts_does(facts, "range");
    cw_node_facts_lacks(facts, "sm");
    cr_expect_eq(cw_node_facts_write(facts, path, &err), CW_ERR_DEVICE);
}
