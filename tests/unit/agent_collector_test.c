#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/collector.h"
#include "host/base/file.h"
#include "tests/support/image_samples.h"

static enum cw_status add(struct cw_collector *collector, const struct cw_schema *schema, uint32_t attributes)
{
    struct cw_error err = CW_ERROR_INIT;
    struct cw_pair *pairs = calloc(attributes + 1, sizeof *pairs);
    struct cw_device_facts facts[CW_SAMPLE_COUNTERS] = {{0}};
    for (uint32_t i = 0; i < attributes; i++)
        pairs[i] = (struct cw_pair){"key", "value"};
    const struct cw_device device = {attributes, attributes, pairs, facts};
    cr_assert(schema->counter_count == CW_SAMPLE_COUNTERS);
    enum cw_status status = cw_collector_device(collector, &device, &err);
    free(pairs);
    return status;
}

/* Several write to one file, as the receivers of several GPUs: what one cannot write leaves no hole for the others. */
Test(agent_collector, a_chunk_that_has_no_room_leaves_the_file_whole)
{
    char path[] = "/tmp/collector.XXXXXX";
    struct cw_arena *arena = cw_arena_create();
    struct cw_config_image plan = cw_sample_plan();
    struct cw_schema schema;
    struct cw_collector collector;
    struct cw_counter_data data;
    struct cw_bytes file;
    struct cw_error err = CW_ERROR_INIT;
    close(mkstemp(path));
    cr_assert(cw_schema_of_plan(&schema, &plan, arena) == CW_OK);
    cr_assert(cw_collector_open(&collector, path, &schema, &err) == CW_OK);
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {20000, 20000};
    cr_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    cr_expect(add(&collector, &schema, 1) == CW_OK);
    cr_expect(add(&collector, &schema, 5000) == CW_ERR_IO);
    cr_expect(add(&collector, &schema, 2) == CW_OK);
    cr_expect(add(&collector, &schema, 6000) == CW_ERR_IO);
    cr_expect(add(&collector, &schema, 3) == CW_OK);
    cr_expect(cw_collector_end(&collector, CW_END_NO_PROGRAM, 0, &err) == CW_OK);
    cw_collector_close(&collector);
    cr_assert(cw_file_read(&file, path, 1 << 20, &err) == CW_OK);
    cr_assert(cw_counter_data_read(&data, file.data, file.size, path, arena, &err) == CW_OK, "%s", err.message);
    cr_expect(data.complete && data.device_count == 3);
    for (uint32_t i = 0; i < 3; i++)
        cr_expect(data.devices[i].index == i + 1);
    cw_bytes_free(&file);
    cw_arena_destroy(arena);
    unlink(path);
}
