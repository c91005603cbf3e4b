/* PM sampling of several GPUs, each by a process, some of which do not live long. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/backend/cupti/check.h"
#include "agent/backend/cupti/cupti.h"
#include "agent/backend/cupti/pm_sampler.h"
#include "agent/common/message.h"
#include "agent/common/cupti_path.h"
#include "agent/common/trace_page.h"
#include "agent/session/session.h"
#include "base/file.h"
#include "image/pm_data.h"
#include "image/trace_data.h"
#include "tests/support/child.h"

enum { GPUS = 3, BLOCK = 100, BLOCKS = 5 };
enum fate {
    GOOD,
    FAILS_BEFORE,
    CRASHES_BEFORE,
    CRASHES_LATER,
    EXITS_LATER,
    CANNOT_START,
    GOES_ON,
    HANGS,
    SILENT,
    LEAVES,
    RANGES
};

static enum fate fates[GPUS];
static char path[] = "/tmp/pm_capture.XXXXXX";
static const char *range;         /* windows are opened for; NULL: samples come all the time */
static uint64_t lost;             /* before each block */
static int decode[2], decoded[2]; /* pipes, to the sampling processes and from them: a byte each time */
static int waits[2];              /* a pipe: bytes once the capture waits for them */
static int samplers[GPUS];        /* sockets; 0: this one does not sample */
static struct cw_error err;
static struct cw_arena *arena;

/* ---- what cupti_pm.c asks of the rest -------------------------------------------------------------------------- */

enum cw_status cw_node_check(const struct cw_node_needs *needs, struct cw_error *e)
{
    (void)e;
    cr_expect(needs->need == CW_NEED_PM);
    *needs->found_devices = needs->devices == CW_EVERY_DEVICE ? (1 << GPUS) - 1 : needs->devices;
    return CW_OK;
}

const char *cw_cupti_path(char *name, size_t size)
{
    cr_assert(size > 0);
    *name = 0;
    return name;
}

void __real_cw_clock_log_look(struct cw_clock_log *log);
void __wrap_cw_clock_log_look(struct cw_clock_log *log);
void __wrap_cw_clock_log_look(struct cw_clock_log *log)
{
    (void)!write(waits[1], "", 1);
    __real_cw_clock_log_look(log);
}

static void send_message(int fd, enum cw_message_type type, struct cw_writer *out)
{
    if (!cw_message_send(fd, type, out->data, out->size))
        _exit(1);
    cw_writer_free(out);
    cw_writer_init(out);
}

static void send_window(int fd, enum cw_window_state state)
{
    struct cw_writer out;
    cw_writer_init(&out);
    cw_write_u8(&out, (uint8_t)state);
    send_message(fd, CW_MESSAGE_WINDOW, &out);
}

static void begin_chunks(struct cw_writer *out, uint32_t samples, uint64_t missing)
{
    cw_write_u32(out, samples);
    cw_write_u64(out, missing);
    cw_write_u64(out, 18000);
}

static void send_block(int fd, uint32_t device, const struct cw_schema *schema, uint64_t number)
{
    struct cw_writer out;
    uint64_t start[BLOCK], end[BLOCK];
    double values[BLOCK];
    const uint8_t form = CW_COLUMN_SUMS;
    struct cw_block block = {.device = device, .count = BLOCK, .start = start, .end = end, .forms = &form};
    for (int i = 0; i < BLOCK; i++) {
        start[i] = (number * BLOCK + (uint64_t)i) * 1000;
        end[i] = start[i] + 1000;
        values[i] = (double)device;
    }
    for (int r = 0; r < CW_ROLLUP_COUNT; r++)
        block.rollups[r] = values;
    cw_writer_init(&out);
    begin_chunks(&out, BLOCK, lost);
    cw_pm_write_block(schema, &block, &out);
    send_message(fd, CW_MESSAGE_CHUNKS, &out);
}

__attribute__((noreturn)) static void sample(int fd, uint32_t number, const struct cw_schema *schema)
{
    struct cw_writer out;
    const struct cw_device_facts facts = {.instances = 1};
    const struct cw_device device = {.index = number, .facts = &facts};
    cw_writer_init(&out);
    if (fates[number] == HANGS) { /* and someone has no patience */
        for (pid_t parent = getppid(); getppid() == parent; usleep(10000))
            kill(parent, SIGTERM);
        _exit(0);
    }
    if (fates[number] == CRASHES_BEFORE)
        raise(SIGKILL);
    if (fates[number] == FAILS_BEFORE) {
        cw_write_u32(&out, CW_ERR_UNSUPPORTED);
        cw_write_string(&out, "it cannot");
        send_message(fd, CW_MESSAGE_FAIL, &out);
        _exit(1);
    }
    cw_write_string(&out, "");
    send_message(fd, CW_MESSAGE_READY, &out);
    begin_chunks(&out, 0, 0);
    cw_counter_data_write_device(schema, &device, &out);
    send_message(fd, CW_MESSAGE_CHUNKS, &out);
    char order;
    for (uint64_t i = 0; fates[number] == RANGES && read(fd, &order, 1) == 1;) {
        if (order) {
            send_window(fd, CW_WINDOW_OPEN);
            continue;
        }
        send_window(fd, CW_WINDOW_CLOSED);
        if (read(decode[0], &order, 1) != 1) /* decoding takes its time */
            _exit(1);
        send_block(fd, number, schema, i++);
        for (int twice = 0; twice < 2; twice++) /* once the second was read, the first was taken */
            send_window(fd, CW_WINDOW_IDLE);
        if (write(decoded[1], &order, 1) != 1)
            _exit(1);
    }
    for (uint64_t i = 0; i < BLOCKS && fates[number] != SILENT && fates[number] != RANGES; i++) {
        send_block(fd, number, schema, i);
        if (fates[number] == CRASHES_LATER)
            raise(SIGKILL);
        if (fates[number] == LEAVES)
            _exit(0);
        if (fates[number] == EXITS_LATER)
            _exit(3);
    }
    if (fates[number] == SILENT && read(waits[0], &order, 1) == 1)
        usleep(5000);
    if (fates[number] == GOES_ON) { /* for as long as it is wanted, which is not long */
        char none;
        kill(getppid(), SIGTERM);
        while (read(fd, &none, 1) > 0)
            ;
        send_block(fd, number, schema, BLOCKS);
    }
    send_message(fd, CW_MESSAGE_DONE, &out);
    _exit(0);
}

enum cw_status cw_pm_sampler_start(struct cw_pm_sampler *sampler, const struct cw_pm_options *options, uint32_t device,
                                   const struct cw_schema *schema, const struct cw_writer *native,
                                   const struct cw_node_facts *node, struct cw_error *e)
{
    int ends[2];
    (void)options, (void)node;
    cr_expect(native->size == 1);
    if (fates[device] == CANNOT_START)
        return cw_error_set(e, CW_ERR_IO, "no process more");
    cr_assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    *sampler = (struct cw_pm_sampler){.device = device, .fd = ends[0]};
    samplers[device] = ends[0];
    sampler->pid = cw_test_fork();
    if (sampler->pid == 0) {
        close(ends[0]);
        sample(ends[1], device, schema);
    }
    close(ends[1]);
    return CW_OK;
}

bool cw_pm_sampler_window(struct cw_pm_sampler *sampler, bool open)
{
    const char order = open;
    return write(sampler->fd, &order, 1) == 1;
}

void cw_pm_sampler_stop(struct cw_pm_sampler *sampler)
{
    shutdown(sampler->fd, SHUT_WR);
}

enum cw_status cw_pm_sampler_finish(struct cw_pm_sampler *sampler, struct cw_error *e)
{
    int how = 0;
    shutdown(sampler->fd, SHUT_RDWR);
    close(sampler->fd);
    cr_expect(waitpid(sampler->pid, &how, 0) == sampler->pid);
    return how ? cw_error_set(e, CW_ERR_DEVICE, "GPU %u was %s", sampler->device,
                              WIFSIGNALED(how) ? "killed" : "left by a library that exits")
               : CW_OK;
}

/* ---- a program with ranges -------------------------------------------------------------------------------------- */

void cw_session_init(struct cw_session *s)
{
    *s = (struct cw_session){.listener = -1};
    cw_writer_init(&s->setup);
}

enum cw_status cw_session_start(struct cw_session *s, char *const *argv, struct cw_error *e)
{
    (void)e;
    cr_expect_str_eq(argv[0], "program");
    cr_expect(s->setup.size > 4, "the filter is for the program's processes");
    return CW_OK;
}

static void tell_range(struct cw_session *s, uint32_t number, bool open)
{
    const uint8_t payload = open;
    const struct cw_process process = {.pid = number, .number = number};
    struct cw_reader in;
    cw_reader_init(&in, &payload, 1, "message", 0, NULL);
    cr_expect(s->take(s->user, &process, CW_MESSAGE_WINDOW, &in, NULL) == CW_OK);
}

/* ---- what the program's process sends of its trace ---- */

static bool traces; /* it does */
enum { LOST = 2 };  /* kernels that its page knows of, and that did not come */

static void put_rows(struct cw_writer *out, enum cw_trace_kind kind, uint32_t count,
                     const uint64_t fields[][CW_FIELD__COUNT])
{
    const struct cw_trace_kind_info *info = &cw_trace_kinds[kind];
    uint64_t values[CW_TRACE_KIND_FIELDS_MAX][8];
    const uint64_t *columns[CW_TRACE_KIND_FIELDS_MAX];
    for (uint32_t f = 0; f < info->field_count; f++) {
        for (uint32_t i = 0; i < count; i++)
            values[f][i] = fields[i][info->fields[f]];
        columns[f] = values[f];
    }
    cw_trace_write_rows(0, kind, count, columns, true, out);
}

static void send_trace(struct cw_session *s, const struct cw_process *process, struct cw_writer *out)
{
    struct cw_reader in;
    cw_reader_init(&in, out->data, out->size, "message", 0, NULL);
    cr_expect_eq(s->take(s->user, process, CW_MESSAGE_TRACE, &in, &err), CW_OK, "%s", err.message);
    cw_writer_free(out);
    cw_writer_init(out);
}

/* Two launches of a kernel, one without its end, one on a GPU that is not sampled; and a range. */
static void tell_trace(struct cw_session *s)
{
    static const char *const texts[] = {"_Z4gemmPf", "step"};
    static const uint64_t shape[][CW_FIELD__COUNT] = {{[CW_FIELD_ID] = 3, [CW_FIELD_NAME] = 1}};
    static const uint64_t kernels[][CW_FIELD__COUNT] = {
        {[CW_FIELD_SHAPE] = 3,
         [CW_FIELD_START] = 100,
         [CW_FIELD_END] = 200,
         [CW_FIELD_CONTEXT] = 1,
         [CW_FIELD_STREAM] = 7},
        {[CW_FIELD_SHAPE] = 3, [CW_FIELD_START] = 300},
        {[CW_FIELD_SHAPE] = 3, [CW_FIELD_START] = 400, [CW_FIELD_END] = 500, [CW_FIELD_DEVICE] = 1}};
    static const uint64_t ranges[][CW_FIELD__COUNT] = {
        {[CW_FIELD_START] = 50, [CW_FIELD_END] = 600, [CW_FIELD_NAME] = 2, [CW_FIELD_THREAD] = 9}};
    struct cw_device device = {.index = 0};
    struct cw_process process = {.pid = 11, .program = "program", .device_count = 1, .devices = &device};
    struct cw_reader in;
    struct cw_writer out;
    struct cw_trace_page page = {.rows = {[CW_TRACE_KERNEL] = 3 + LOST}};
    process.message.memory = memfd_create("page", MFD_ALLOW_SEALING);
    cr_assert(write(process.message.memory, &page, sizeof page) == sizeof page);
    cr_assert(fcntl(process.message.memory, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
    cw_reader_init(&in, NULL, 0, "message", 0, NULL);
    cr_expect_eq(s->take(s->user, &process, CW_MESSAGE_TRACE_PAGE, &in, &err), CW_OK, "%s", err.message);
    close(process.message.memory);
    cw_writer_init(&out);
    cw_trace_write_texts(0, 1, texts, 2, &out);
    put_rows(&out, CW_TRACE_SHAPE, 1, shape);
    put_rows(&out, CW_TRACE_KERNEL, 3, kernels);
    put_rows(&out, CW_TRACE_NVTX_RANGE, 1, ranges);
    send_trace(s, &process, &out);
}

/* Lets every GPU decode, and waits until the capture knows of it. */
static void let_decode(void)
{
    char byte = 0;
    for (int g = 0; g < GPUS; g++)
        cr_assert(!samplers[g] || write(decode[1], &byte, 1) == 1);
    for (int g = 0; g < GPUS; g++)
        cr_assert(!samplers[g] || read(decoded[0], &byte, 1) == 1);
    for (int g = 0, left = 1; g < GPUS; g++, left = 1)
        while (samplers[g] && left) {
            cr_assert(ioctl(samplers[g], FIONREAD, &left) == 0);
            usleep(1000);
        }
}

/* The second begins too early; of the last two, which overlap, one window is made, though one of their processes ends
 * within its range, and another, which had none, ends before. */
void cw_session_serve(struct cw_session *s)
{
    for (int i = 0; i < 2; i++) {
        tell_range(s, 1, true);
        tell_range(s, 1, false);
    }
    let_decode();
    tell_range(s, 1, true);
    tell_range(s, 2, true);
    s->gone(s->user, &(struct cw_process){.number = 3});
    tell_range(s, 1, false);
    s->gone(s->user, &(struct cw_process){.number = 2});
    if (traces)
        tell_trace(s);
    let_decode();
    s->program = (struct cw_program){.over = true, .how = CW_END_EXITED};
}

void cw_session_finish(struct cw_session *s)
{
    cw_writer_free(&s->setup);
}

const struct cw_device *cw_process_device(const struct cw_process *process, uint32_t index)
{
    (void)process;
    (void)index;
    return NULL;
}

/* ---- */

static enum cw_status capture(uint64_t devices)
{
    static const struct cw_config_counter counter = {.name = "counter"};
    static const char *const metric = "counter.sum";
    static const struct cw_config_pass pass;
    static const uint8_t native[1];
    static const struct cw_config_image plan = {.chip = "GH100",
                                                .producer = "test",
                                                .profiler = CW_PROFILER_PM,
                                                .pass_count = 1,
                                                .passes = &pass,
                                                .counter_count = 1,
                                                .counters = &counter,
                                                .metric_count = 1,
                                                .metrics = &metric,
                                                .native = native,
                                                .native_size = 1};
    static char name[] = "program", *const program[] = {name, NULL};
    const struct cw_pm_options options = {.capture = {.plan = &plan, .output = path, .argv = range ? program : NULL},
                                          .devices = devices,
                                          .interval = 1000,
                                          .duration_s = range ? 0 : 1,
                                          .filter = {.range = range, .launch_count = UINT64_MAX}};
    int exit_status = 0;
    close(mkstemp(path));
    cr_assert(pipe(decode) == 0 && pipe(decoded) == 0 && pipe(waits) == 0);
    arena = cw_arena_create();
    err = (struct cw_error)CW_ERROR_INIT;
    return cw_cupti_pm(&options, &exit_status, &err);
}

/* What is in the file: whole blocks of these GPUs alone. */
static struct cw_counter_data read_file(const uint32_t blocks[GPUS])
{
    struct cw_bytes file;
    struct cw_counter_data data;
    struct cw_error why = CW_ERROR_INIT;
    uint32_t found[GPUS] = {0};
    cr_assert(cw_file_read(&file, path, 1 << 20, &why) == CW_OK);
    cr_assert(cw_counter_data_read(&data, file.data, file.size, path, arena, &why) == CW_OK, "%s", why.message);
    for (uint32_t b = 0; b < data.pm.block_count; b++)
        found[data.devices[data.pm.blocks[b].device].index]++;
    for (int g = 0; g < GPUS; g++)
        cr_expect(found[g] == blocks[g], "GPU %d: %u blocks", g, found[g]);
    unlink(path);
    return data;
}

Test(agent_pm_capture, every_gpu_that_was_asked_for_is_sampled)
{
    cr_assert(capture(1 << 0 | 1 << 2) == CW_OK, "%s", err.message);
    cr_expect(read_file((const uint32_t[]){BLOCKS, 0, BLOCKS}).complete);
}

Test(agent_pm_capture, all_are_those_of_the_chip)
{
    cr_assert(capture(0) == CW_OK, "%s", err.message);
    cr_expect(read_file((const uint32_t[]){BLOCKS, BLOCKS, BLOCKS}).complete);
}

Test(agent_pm_capture, a_gpu_that_is_sampled_no_longer_leaves_the_others)
{
    fates[1] = CRASHES_LATER;
    cr_expect(capture(0) == CW_ERR_DEVICE);
    cr_expect_str_eq(err.message, "GPU 1 was killed");
    cr_expect(!read_file((const uint32_t[]){BLOCKS, 1, BLOCKS}).complete);
}

Test(agent_pm_capture, lost_samples_come_with_an_interval_that_loses_none)
{
    lost = 7;
    cr_redirect_stderr();
    cr_assert(capture(1 << 0) == CW_OK, "%s", err.message);
    fflush(stderr);
    cr_assert_stderr_eq_str("capture-agent: 35 samples were lost: taking one over takes 18.0 us, so none is lost at "
                            "--interval 23us, or within windows (--window); fewer counters take less\n");
    unlink(path);
}

Test(agent_pm_capture, a_capture_without_a_sample_says_how_long_it_sampled)
{
    fates[0] = SILENT;
    cr_expect(capture(1 << 0) == CW_ERR_DEVICE);
    cr_expect(strstr(err.message, " ms at an interval of 1000 ns: the GPU gave none"), "%s", err.message);
    unlink(path);
}

Test(agent_pm_capture, ranges_open_windows_of_every_gpu_that_is_ready)
{
    fates[0] = fates[2] = RANGES;
    range = "step";
    cr_redirect_stderr();
    cr_assert(capture(1 << 0 | 1 << 2) == CW_OK, "%s", err.message);
    cr_expect(read_file((const uint32_t[]){2, 0, 2}).complete);
    fflush(stderr);
    cr_assert_stderr_eq_str("capture-agent: 1 of 4 ranges were not sampled: each began while the one before was still "
                            "decoded\n");
}

/* Kernels are launches of the file, whose times and numbers are as they were; the rest are rows of a trace. */
Test(agent_pm_capture, a_trace_stands_beside_the_samples)
{
    struct cw_bytes file;
    struct cw_trace trace;
    struct cw_trace_buffer buffer = {0};
    struct cw_trace_rows rows;
    struct cw_error why = CW_ERROR_INIT;
    fates[0] = RANGES;
    range = "step";
    traces = true;
    cr_redirect_stderr();
    cr_assert(capture(1 << 0) == CW_OK, "%s", err.message);
    cr_assert(cw_file_read(&file, path, 1 << 20, &why) == CW_OK);
    cr_expect_eq(file.data[10], 5, "version 1.%d", file.data[10]);
    const struct cw_counter_data data = read_file((const uint32_t[]){2, 0, 0});
    cr_assert(data.pm.launch_count == 1 && data.pm.launches_untimed == 1 && data.pm.launches_dropped == LOST);
    const struct cw_kernel_launch *l = data.pm.launches;
    cr_expect_str_eq(data.pm.names[l->name], "gemm(float*)");
    cr_expect(l->process == 11 && l->context == 1 && l->stream == 7 && l->end_ns - l->start_ns == 100);
    cr_assert(cw_trace_read(&trace, data.devices, data.device_count, file.data, file.size, path, arena, &why) == CW_OK,
              "%s", why.message);
    cr_assert(trace.process_count == 1 && trace.processes[0].device_count == 1);
    for (uint32_t k = 0; k < trace.kind_count; k++)
        cr_expect(trace.kinds[k].rows == (k == CW_TRACE_NVTX_RANGE) || k == CW_TRACE_ACCOUNT, "%s",
                  trace.kinds[k].name);
    for (size_t b = 0; b < trace.block_count; b++)
        if (trace.blocks[b].kind == CW_TRACE_NVTX_RANGE) {
            cr_assert(cw_trace_read_rows(&rows, &trace, b, &buffer, &why) == CW_OK);
            cr_expect_str_eq(cw_trace_text(&trace, 0, cw_trace_get(&rows, CW_FIELD_NAME, 0)), "step");
            cr_expect_eq(cw_trace_get(&rows, CW_FIELD_END, 0), 600);
        }
    fflush(stderr);
    cr_assert_stderr_eq_str(
        "capture-agent: 1 of 4 ranges were not sampled: each began while the one before was still decoded\n"
        "capture-agent: 1 launch was on a GPU that is not sampled: --device selects more, or all\n"
        "capture-agent: the times of 1 kernel launch were not collected: counted without a time\n");
    cw_trace_buffer_free(&buffer);
    cw_bytes_free(&file);
}

Test(agent_pm_capture, a_signal_ends_it_and_keeps_all_samples)
{
    fates[1] = GOES_ON;
    cr_assert(capture(1 << 1) == CW_OK, "%s", err.message);
    cr_expect(read_file((const uint32_t[]){0, BLOCKS + 1, 0}).complete);
}

Test(agent_pm_capture, a_process_that_leaves_early_is_no_success)
{
    fates[2] = EXITS_LATER;
    cr_expect(capture(0) == CW_ERR_DEVICE);
    cr_expect_str_eq(err.message, "GPU 2 was left by a library that exits");
    cr_expect(!read_file((const uint32_t[]){BLOCKS, BLOCKS, 1}).complete);
}

Test(agent_pm_capture, a_process_that_ends_early_as_if_all_were_well_is_no_success)
{
    fates[2] = LEAVES;
    cr_redirect_stderr();
    cr_expect(capture(0) == CW_ERR_DEVICE);
    cr_expect_str_eq(err.message,
                     "GPU 2: the sampling process ended before it had sent every sample; complete data is kept");
    cr_expect(!read_file((const uint32_t[]){BLOCKS, BLOCKS, 1}).complete);
    fflush(stderr);
    cr_assert_stderr_eq_str("capture-agent: GPU 2 is sampled no longer; complete data is kept\n");
}

Test(agent_pm_capture, a_second_signal_does_not_wait_for_a_gpu_that_hangs, .signal = SIGTERM)
{
    fates[0] = HANGS;
    capture(1 << 0);
}

/* Then nothing begins; how much the others took meanwhile is theirs. */
static void check_start(enum fate fate, enum cw_status status, const char *message)
{
    fates[1] = fate;
    cr_expect(capture(0) == status, "%s", err.message);
    cr_expect_str_eq(err.message, message);
    unlink(path);
}

Test(agent_pm_capture, a_gpu_that_cannot_be_sampled_is_named)
{
    check_start(FAILS_BEFORE, CW_ERR_UNSUPPORTED, "GPU 1: it cannot");
}

Test(agent_pm_capture, a_process_that_dies_at_once_is_told)
{
    check_start(CRASHES_BEFORE, CW_ERR_DEVICE, "GPU 1 was killed");
}

Test(agent_pm_capture, a_process_that_cannot_start_ends_the_others)
{
    check_start(CANNOT_START, CW_ERR_IO, "no process more");
}
