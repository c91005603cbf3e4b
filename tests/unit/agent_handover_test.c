/* Counter data that a profiled process hands over as memory: it gets here, and the process is not believed. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/backend/cupti/range_decode.h"
#include "agent/common/message.h"

enum { PARTS = 2, SIZE = 100 };

static struct cw_config_counter counters[] = {{.name = "smsp__inst_executed"}, {.name = "sm__cycles_active"}};
static struct cw_part items[PARTS] = {{.plan = {.counter_count = 2, .counters = counters}},
                                      {.plan = {.counter_count = 1, .counters = counters}}};
static const struct cw_parts parts = {.count = PARTS, .items = items};

static struct cw_bytes copy;

/* Both images, the second where the first ends and the next multiple of the alignment is. */
static int memory(size_t size, int seals)
{
    int file = memfd_create("test", MFD_ALLOW_SEALING);
    cr_assert(file >= 0 && ftruncate(file, (off_t)size) == 0);
    cr_assert(pwrite(file, "first", 5, 0) == 5);
    if (size > 128)
        cr_assert(pwrite(file, "second", 6, 128) == 6);
    cr_assert(fcntl(file, F_ADD_SEALS, seals) == 0);
    return file;
}

/* What becomes of a message with these sizes and this memory. */
static enum cw_status take(struct cw_range_images *images, const uint32_t *sizes, uint32_t count, int sent)
{
    struct cw_writer out;
    struct cw_error err = CW_ERROR_INIT;
    struct cw_reader in;
    struct cw_message_in message;
    enum cw_arrival arrival;
    int ends[2];
    cw_writer_init(&out);
    cw_write_u32(&out, count);
    for (uint32_t i = 0; i < count; i++)
        cw_write_u32(&out, sizes[i]);
    cr_assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    cr_assert(cw_message_send_with(ends[0], CW_MESSAGE_RANGES, out.data, out.size, sent));
    cw_message_begin(&message);
    do
        arrival = cw_message_read(&message, ends[1], true, CW_MESSAGE_MAX);
    while (arrival == CW_ARRIVAL_PART);
    int file = message.memory;
    cr_assert_eq(arrival, CW_ARRIVAL_WHOLE);
    cr_expect_eq(message.type, CW_MESSAGE_RANGES);
    cr_expect((file >= 0) == (sent >= 0) && (file < 0 || file != sent));
    cw_reader_init(&in, message.payload, message.size, "message", 0, &err);
    enum cw_status status = cw_range_images_read(images, &parts, parts.items, PARTS, &in, file, &err);
    if (sent >= 0)
        close(sent);
    close(ends[0]);
    close(ends[1]);
    cw_writer_free(&out);
    cw_message_drop(&message);
    return status;
}

Test(handover, images_lie_one_behind_the_other)
{
    struct cw_range_images images = {.memory = &copy};
    cr_assert_eq(take(&images, (uint32_t[]){SIZE, SIZE}, 2, memory(128 + SIZE + 28, F_SEAL_SHRINK)), CW_OK);
    cr_expect_eq(images.count, 2);
    cr_expect_arr_eq(images.items[0].bytes, "first", 5);
    cr_expect_arr_eq(images.items[1].bytes, "second", 6);
    cr_expect_eq(images.items[1].size, SIZE);
    cw_range_images_close(&images);
}

/* NVIDIA's decoder is to find what was checked. */
Test(handover, the_process_changes_nothing_any_more)
{
    struct cw_range_images images = {.memory = &copy};
    int sent = memory(4096, F_SEAL_SHRINK), kept = dup(sent);
    cr_assert_eq(take(&images, (uint32_t[]){SIZE, SIZE}, 2, sent), CW_OK);
    cr_assert(pwrite(kept, "wrong", 5, 0) == 5);
    cr_expect_arr_eq(images.items[0].bytes, "first", 5);
    cw_range_images_close(&images);
    close(kept);
}

Test(handover, launches_that_were_not_collected_have_none)
{
    struct cw_range_images images = {.memory = &copy};
    cr_expect_eq(take(&images, NULL, 0, -1), CW_OK);
    cr_expect_eq(images.count, 0);
    cw_range_images_close(&images);
}

Test(handover, memory_that_is_missing_short_or_may_shrink_is_refused)
{
    const uint32_t sizes[] = {SIZE, SIZE}, huge[] = {UINT32_MAX, UINT32_MAX}, large[] = {1 << 30, 1 << 30},
                   none[] = {0, 0};
    char path[] = "/tmp/handover_test_XXXXXX";
    int pipes[2], on_disk = mkstemp(path);
    cr_assert(pipe(pipes) == 0 && on_disk >= 0 && ftruncate(on_disk, 4096) == 0 && unlink(path) == 0);
    const struct {
        const uint32_t *sizes;
        uint32_t count;
        int file;
    } cases[] = {{sizes, 2, -1},
                 {sizes, 2, memory(128, F_SEAL_SHRINK)},
                 {sizes, 2, memory(4096, 0)},
                 {sizes, 2, pipes[0]},
                 {sizes, 2, on_disk},
                 {huge, 2, memory(4096, F_SEAL_SHRINK)},
                 {large, 2, memory((size_t)3 << 30, F_SEAL_SHRINK)},
                 {none, 2, memory(4096, F_SEAL_SHRINK)},
                 {sizes, 1, memory(4096, F_SEAL_SHRINK)}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cw_range_images images = {.memory = &copy};
        cr_expect_neq(take(&images, cases[i].sizes, cases[i].count, cases[i].file), CW_OK, "case %zu", i);
        cr_expect_null(copy.data);
        cw_range_images_close(&images);
    }
    close(pipes[1]);
}

Test(handover, a_descriptor_that_nobody_expects_is_closed)
{
    int ends[2], watch[2];
    char byte;
    enum cw_message_type type;
    uint8_t *payload;
    size_t size;
    cr_assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && pipe(watch) == 0);
    cr_assert(cw_message_send_with(ends[0], CW_MESSAGE_TAKEN, NULL, 0, watch[1]));
    close(watch[1]);
    cr_expect(cw_message_receive(ends[1], &type, &payload, &size));
    cr_expect_eq(read(watch[0], &byte, 1), 0, "nobody can write any more");
}
