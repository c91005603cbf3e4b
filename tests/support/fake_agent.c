#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/common/filter.h"
#include "agent/common/trace_page.h"
#include "agent/common/trace_window.h"
#include "image/pc_data.h"
#include "image/trace_kinds.h"
#include "tests/support/fake_cupti.h"

void fake_agent_listen(struct fake_agent *a)
{
    *a = (struct fake_agent){.folder = "/tmp/inject_test_XXXXXX", .address = {.sun_family = AF_UNIX}};
    cr_assert(mkdtemp(a->folder));
    snprintf(a->address.sun_path, sizeof a->address.sun_path, "%s/socket", a->folder);
    a->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert(bind(a->listener, (struct sockaddr *)&a->address, sizeof a->address) == 0 && listen(a->listener, 8) == 0);
    setenv(CW_AGENT_SOCKET_VARIABLE, a->address.sun_path, 1);
}

void fake_agent_close(const struct fake_agent *a)
{
    close(a->listener);
    unlink(a->address.sun_path);
    rmdir(a->folder);
}

void fake_agent_write_trace(struct cw_writer *setup, enum cw_mode mode, uint64_t flush_ns)
{
    cw_write_u32(setup, mode);
    cw_write_u64(setup, CW_TRACE_BIT(CW_TRACE_KERNEL) | CW_TRACE_BIT(CW_TRACE_NVTX_RANGE));
    cw_write_u32(setup, CW_TRACE_GRAPH_NODES);
    cw_write_u64(setup, 0);
    cw_write_u64(setup, flush_ns);
    cw_write_u64(setup, 1 << 20);
    cw_write_u32(setup, 4);
    cw_trace_window_write(setup, &fake_cupti.when);
    cw_filter_write(setup, &(struct cw_filter_options){.launch_count = UINT64_MAX});
    cw_write_string(setup, "");
}

static void write_ranges(struct cw_writer *setup)
{
    uint32_t parts = fake_cupti.parts ? fake_cupti.parts : 1;
    bool multiplexes = fake_cupti.mode == CW_MODE_MULTIPLEX;
    cw_write_u32(setup, fake_cupti.mode);
    cw_write_u32(setup, 4);
    cw_write_u32(setup, parts);
    for (uint32_t i = 0; i < parts; i++) {
        cw_write_u32(setup, 1);
        cw_write_string(setup, "smsp__inst_executed.sum");
        cw_write_u32(setup, 1);
        cw_write_u8(setup, false);
    }
    for (int scope = CW_SCOPE_CONTEXT; scope <= CW_SCOPE_DEVICE; scope++) {
        cw_write_u32(setup, 8);
        cw_write_u64(setup, 0);
    }
    for (int none = 0; none < 3; none++) /* is counted once */
        cw_write_u32(setup, 0);
    cw_write_u32(setup, multiplexes ? CW_REPLAY_MULTIPLEX : CW_REPLAY_KERNEL);
    cw_write_u8(setup, 0);
    cw_write_u32(setup, 0);
    cw_write_u32(setup, 1);
    cw_write_u8(setup, false);
    cw_write_u32(setup, CW_RESERVE_USUAL);
    cw_write_u32(setup, CW_ON_HOST_USUAL);
    cw_filter_write(setup,
                    &(struct cw_filter_options){.kernels = {"."}, .kernel_count = 1, .launch_count = UINT64_MAX});
    cw_write_u64(setup, 0);
    cw_trace_window_write(setup, &fake_cupti.when);
    if (multiplexes) {
        cw_write_u32(setup, 1);
        cw_write_u32(setup, 0);
    }
}

static void write_instructions(struct cw_writer *setup)
{
    const bool sass = fake_cupti.mode == CW_MODE_SASS;
    cw_write_u32(setup, fake_cupti.mode);
    if (sass)
        cw_write_u8(setup, false);
    cw_write_u64(setup, 1000000000);
    if (!sass) {
        cw_write_u8(setup, CW_PC_CONTINUOUS);
        cw_write_u8(setup, 10);
        cw_write_u64(setup, 0);
        cw_write_u8(setup, false);
    }
    cw_write_u32(setup, sass || fake_cupti.asked ? 1 : 0);
    if (sass || fake_cupti.asked)
        cw_write_string(setup, fake_cupti.asked ? fake_cupti.asked : "smsp__sass_inst_executed");
    if (sass)
        cw_write_u8(setup, CW_SASS_GPU);
    cw_filter_write(setup, &(struct cw_filter_options){.launch_count = UINT64_MAX});
    cw_write_u64(setup, 0);
    cw_trace_window_write(setup, &fake_cupti.when);
}

void fake_agent_answer(int fd)
{
    struct cw_writer setup;
    if (fake_cupti.called)
        fake_cupti.called("HELLO");
    cw_writer_init(&setup);
    if (fake_cupti.mode == CW_MODE_TRACE)
        fake_agent_write_trace(&setup, CW_MODE_TRACE, 20000000);
    else if (fake_cupti.mode == CW_MODE_PC || fake_cupti.mode == CW_MODE_SASS)
        write_instructions(&setup);
    else
        write_ranges(&setup);
    cr_expect(cw_message_send(fd, CW_MESSAGE_SETUP, setup.data, setup.size));
    cw_writer_free(&setup);
}

int fake_agent_serve(int fd, enum cw_message_type expected)
{
    enum cw_message_type type;
    uint8_t *payload;
    size_t size;
    int count = 0;
    while (cw_message_receive(fd, &type, &payload, &size)) {
        cr_expect(type == CW_MESSAGE_HELLO || type == CW_MESSAGE_TRACE_PAGE || type == expected, "%d", type);
        if (type == CW_MESSAGE_HELLO)
            fake_agent_answer(fd);
        if (type == CW_MESSAGE_RANGES || type == CW_MESSAGE_TRACE_PAGE)
            cw_message_send(fd, CW_MESSAGE_TAKEN, NULL, 0); /* a program that ends does not wait for it */
        count += type == expected;
        free(payload);
    }
    return count;
}
