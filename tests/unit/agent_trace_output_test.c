#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/backend/trace_capture.h"
#include "base/file.h"
#include "tests/support/alloc_fail.h"

static char folder[] = "/tmp/trace_output.XXXXXX", path[64];
static struct cw_trace_output output;
static struct cw_arena *arena;
static struct cw_bytes file;
static struct cw_counter_data data;
static struct cw_trace trace;
static struct cw_trace_buffer buffer;
static struct cw_error err;

static void set_up(void)
{
    arena = cw_arena_create();
    cr_assert(arena && mkdtemp(folder));
    snprintf(path, sizeof path, "%s/run.cwd", folder);
}

static void tear_down(void)
{
    cw_trace_output_close(&output);
    cw_trace_buffer_free(&buffer);
    cw_bytes_free(&file);
    cw_arena_destroy(arena);
    unlink(path);
    cr_expect(rmdir(folder) == 0, "something else was left in the folder");
}

TestSuite(trace_output, .init = set_up, .fini = tear_down);

static void read_file(const char *from)
{
    cw_bytes_free(&file);
    cr_assert(cw_file_read(&file, from, 1 << 30, &err) == CW_OK);
    cr_assert(cw_counter_data_read(&data, file.data, file.size, from, arena, &err) == CW_OK, "%s", err.message);
    cr_assert(cw_trace_read(&trace, data.devices, data.device_count, file.data, file.size, from, arena, &err) == CW_OK,
              "%s", err.message);
}

static uint32_t add_process(uint32_t pid, const char *rank)
{
    const struct cw_pair about[] = {{"program", "train"}, {"host", "node"}, {"rank", rank}};
    const struct cw_trace_process process = {.pid = pid, .attribute_count = 3, .attributes = about};
    uint32_t index = UINT32_MAX;
    cr_assert(cw_trace_output_add_process(&output, &process, &index, &err) == CW_OK, "%s", err.message);
    return index;
}

static void add_device(uint32_t process, uint32_t number, const char *pci)
{
    const struct cw_pair about[] = {{"chip", "GH100"}, {"host", "node"}, {"pci", pci}, {"rank", "3"}};
    const struct cw_device device = {.index = number, .attribute_count = 4, .attributes = about};
    cr_assert(cw_trace_output_add_device(&output, process, &device, &err) == CW_OK, "%s", err.message);
}

static void open_output(const char *pattern)
{
    cr_assert(cw_trace_output_open(&output, pattern, false, "GH100", "--device 0", &err) == CW_OK, "%s", err.message);
}

static uint32_t count_descriptors(void)
{
    uint32_t count = 0;
    for (int fd = 0; fd < 4096; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void end_output(void)
{
    const struct cw_program program = {.over = true};
    cr_assert(cw_trace_output_end(&output, &program, &err) == CW_OK, "%s", err.message);
}

/* What a program sends: texts and rows of overheads, each of whose texts is `type`, and everything else the time. */
static enum cw_status send(uint32_t process, uint32_t first, const char *text, uint32_t rows, uint64_t type)
{
    static uint64_t values[CW_TRACE_ROWS_MAX], types[CW_TRACE_ROWS_MAX];
    const uint64_t *columns[CW_TRACE_KIND_FIELDS_MAX];
    struct cw_writer message;
    struct cw_reader in;
    const struct cw_trace_kind_info *kind = &cw_trace_kinds[CW_TRACE_OVERHEAD];
    for (uint32_t f = 0; f < kind->field_count; f++)
        columns[f] = cw_trace_fields[kind->fields[f]].type == CW_TRACE_TEXT ? types : values;
    for (uint32_t i = 0; i < rows; i++) {
        values[i] = 1000 + 3 * i;
        types[i] = type;
    }
    cw_writer_init(&message);
    if (text)
        cw_trace_write_texts(99, first, &text, 1, &message);
    if (rows)
        cw_trace_write_rows(99, CW_TRACE_OVERHEAD, rows, columns, true, &message);
    cw_reader_init(&in, message.data, message.size, "message", 0, &err);
    enum cw_status status = cw_trace_output_take_chunks(&output, process, &in, &err);
    cw_writer_free(&message);
    return status;
}

Test(trace_output, what_a_program_sends_is_written_shorter)
{
    open_output(path);
    uint32_t first = add_process(7, "0"), second = add_process(8, "1");
    add_device(first, 0, "0000:01");
    add_device(second, 0, "0000:02"); /* the same number of another device */
    add_device(second, 1, "0000:01");
    add_device(second, 1, "0000:01");
    cr_assert(send(first, 1, "waiting", 3, 0) == CW_OK);
    cr_assert(send(second, 1, "loading", 20000, 1) == CW_OK, "%s", err.message);
    end_output();
    read_file(path);
    cr_expect(data.device_count == 2 && data.complete && file.size < 10 * 20000);
    cr_expect_str_eq(cw_device_attribute(&data.devices[0], "filter"), "--device 0");
    cr_expect_null(cw_device_attribute(&data.devices[0], "rank"), "it is the process's");
    cr_assert(trace.process_count == 2 && trace.block_count == 2);
    cr_expect(trace.processes[0].pid == 7 && trace.processes[1].pid == 8);
    cr_expect(cw_trace_device(&trace, 0, 0) == 0 && cw_trace_device(&trace, 1, 0) == 1 &&
              cw_trace_device(&trace, 1, 1) == 0);
    struct cw_trace_rows rows;
    cr_assert(cw_trace_read_rows(&rows, &trace, 1, &buffer, &err) == CW_OK);
    cr_expect(rows.process == 1 && rows.count == 20000 &&
              cw_trace_get(&rows, CW_FIELD_START, 19999) == 1000 + 3 * 19999);
    cr_expect_str_eq(cw_trace_text(&trace, 1, cw_trace_get(&rows, CW_FIELD_TYPE, 0)), "loading");
}

Test(trace_output, what_makes_no_sense_is_refused)
{
    open_output(path);
    uint32_t process = add_process(7, "0");
    cr_expect(send(process, 2, "gap", 0, 0) == CW_ERR_INPUT);
    err = (struct cw_error)CW_ERROR_INIT;
    cr_expect(send(process, 1, "text", 2, 2) == CW_ERR_INPUT, "a text that was not sent");
    err = (struct cw_error)CW_ERROR_INIT;
    cr_expect(send(process, 2, "text", 2, 2) == CW_OK, "%s", err.message);
    end_output();
    read_file(path);
    cr_expect(trace.block_count == 1);
}

Test(trace_output, more_rows_than_a_block_has_make_several)
{
    static uint64_t values[CW_TRACE_ROWS_MAX + 5];
    const uint64_t *columns[CW_TRACE_KIND_FIELDS_MAX];
    for (int f = 0; f < CW_TRACE_KIND_FIELDS_MAX; f++)
        columns[f] = values;
    open_output(path);
    uint32_t process = add_process(7, "0");
    cr_assert(cw_trace_output_rows(&output, process, CW_TRACE_MEMSET, CW_TRACE_ROWS_MAX + 5, columns, &err) == CW_OK);
    end_output();
    read_file(path);
    cr_expect(trace.block_count == 2 && trace.blocks[1].count == 5);
    cr_expect(cw_trace_output_books(&output, CW_TRACE_MEMSET).rows == CW_TRACE_ROWS_MAX + 5);
}

static void account(uint32_t process, uint64_t launched, uint64_t recorded, uint64_t dropped, uint64_t note)
{
    const struct cw_trace_kind_info *info = &cw_trace_kinds[CW_TRACE_ACCOUNT];
    uint64_t values[CW_TRACE_KIND_FIELDS_MAX];
    const uint64_t *columns[CW_TRACE_KIND_FIELDS_MAX];
    for (uint32_t f = 0; f < info->field_count; f++) {
        values[f] = info->fields[f] == CW_FIELD_TYPE       ? 1
                    : info->fields[f] == CW_FIELD_LAUNCHED ? launched
                    : info->fields[f] == CW_FIELD_RECORDED ? recorded
                    : info->fields[f] == CW_FIELD_DROPPED  ? dropped
                    : info->fields[f] == CW_FIELD_NOTE     ? note
                                                           : 0;
        columns[f] = &values[f];
    }
    cr_assert(cw_trace_output_rows(&output, process, CW_TRACE_ACCOUNT, 1, columns, &err) == CW_OK);
}

Test(trace_output, the_last_account_of_each_process_counts)
{
    static const char *const texts[] = {"kernel", "another tool holds it"};
    open_output(path);
    uint32_t first = add_process(7, "0"), second = add_process(8, "1");
    cr_assert(cw_trace_output_texts(&output, first, texts, 2, &err) == CW_OK);
    cr_assert(cw_trace_output_texts(&output, second, texts, 2, &err) == CW_OK);
    account(first, 10, 5, 0, 0);
    account(first, 20, 18, 1, 2);
    account(second, CW_TRACE_UNKNOWN, 7, 3, 2);
    struct cw_trace_books b = cw_trace_output_books(&output, CW_TRACE_KERNEL);
    cr_expect(b.recorded == 25 && b.lost == 2 + 3);
    cr_expect(output.note_count == 1);
    cr_expect_str_eq(output.notes[0].text, "another tool holds it");
    cr_assert(cw_trace_output_cut(&output, second, &err) == CW_OK);
    b = cw_trace_output_books(&output, CW_TRACE_KERNEL);
    cr_expect(b.recorded == 25 && b.lost == 5 && output.note_count == 2);
    end_output();
    read_file(path);
    cr_expect(data.dropped == 5);
}

/* What a killed process had seen and not sent is lost, also where one launch made many rows (a graph's), and so is what
 * CUPTI dropped behind the last account. */
Test(trace_output, a_page_tells_what_was_not_sent)
{
    struct cw_trace_page page = {0};
    open_output(path);
    uint32_t process = add_process(7, "0");
    page.launched[CW_TRACE_KERNEL] = page.direct[CW_TRACE_KERNEL] = 1;
    page.rows[CW_TRACE_KERNEL] = 1000;
    page.dropped = 5000;
    page.opened_ns = 77;
    cr_assert(cw_trace_output_settle(&output, process, &page, &err) == CW_OK);
    const struct cw_trace_books b = cw_trace_output_books(&output, CW_TRACE_KERNEL);
    cr_expect(b.launched == 1 && b.lost == 1000, "%llu lost", (unsigned long long)b.lost);
    end_output();
    cr_expect_eq(output.dropped, 5000);
    read_file(path);
    cr_expect_eq(data.dropped, 5000);
    struct cw_trace_rows rows = {0};
    for (size_t i = 0; i < trace.block_count; i++)
        if (trace.blocks[i].kind == CW_TRACE_WINDOW)
            cr_assert(cw_trace_read_rows(&rows, &trace, i, &buffer, &err) == CW_OK);
    cr_assert(rows.count == 1, "the window that it was killed in");
    cr_expect(cw_trace_get(&rows, CW_FIELD_START, 0) == 77 && cw_trace_get(&rows, CW_FIELD_END, 0) > 77);
}

/* However many texts one process sends, the accounts of those behind it are understood. */
Test(trace_output, texts_of_one_process_leave_room_for_the_next)
{
    enum { MANY = 100000 };
    static const char *many[MANY];
    const char *const texts[] = {"kernel"};
    for (int i = 0; i < MANY; i++)
        many[i] = "step";
    open_output(path);
    uint32_t first = add_process(7, "0"), second = add_process(8, "1");
    for (int i = 0; i < 8; i++)
        cr_assert(cw_trace_output_texts(&output, first, many, MANY, &err) == CW_OK);
    cr_assert(cw_trace_output_texts(&output, second, texts, 1, &err) == CW_OK);
    account(second, 20, 18, 0, 0);
    const struct cw_trace_books b = cw_trace_output_books(&output, CW_TRACE_KERNEL);
    cr_expect(b.launched == 20 && b.lost == 2);
}

/* Whatever fails as a process begins, the file has those that begin later, with the same device. */
Test(trace_output, a_process_that_cannot_begin_leaves_the_file_to_others)
{
    const struct cw_pair about[] = {{"host", "node"}, {"pci", "0000:02:00.0"}};
    const struct cw_trace_process process = {.pid = 8, .attribute_count = 1, .attributes = about};
    const struct cw_device device = {.index = 0, .attribute_count = 2, .attributes = about};
    for (long after = 0, failed = true; failed; after++) {
        uint32_t second;
        open_output(path);
        const uint32_t first = add_process(7, "0");
        add_device(first, 0, "0000:01:00.0");
        cw_alloc_fail_after(after);
        if (cw_trace_output_add_process(&output, &process, &second, &err) == CW_OK)
            cw_trace_output_add_device(&output, second, &device, &err);
        failed = cw_alloc_failed();
        cw_alloc_fail_after(-1);
        const uint32_t third = add_process(9, "0");
        add_device(third, 0, "0000:02:00.0");
        cr_assert(send(third, 1, "a", 1, 1) == CW_OK);
        end_output();
        cw_trace_output_close(&output);
        read_file(path);
        cr_expect(data.device_count == 2 && trace.processes[trace.process_count - 1].pid == 9, "%ld", after);
        cr_assert(unlink(path) == 0);
    }
    open_output(path);
}

Test(trace_output, a_name_with_the_process_makes_a_file_for_each)
{
    char pattern[64], one[64], other[64];
    snprintf(pattern, sizeof pattern, "%s/%%r-%%p", folder);
    snprintf(one, sizeof one, "%s/0-7", folder);
    snprintf(other, sizeof other, "%s/1-8", folder);
    open_output(pattern);
    uint32_t first = add_process(7, "0"), second = add_process(8, "1");
    cr_assert(send(first, 1, "a", 1, 1) == CW_OK && send(second, 1, "b", 2, 1) == CW_OK);
    end_output();
    read_file(one);
    cr_expect(trace.process_count == 1 && trace.processes[0].pid == 7 && trace.blocks[0].count == 1);
    read_file(other);
    cr_expect(trace.process_count == 1 && trace.processes[0].pid == 8 && trace.blocks[0].count == 2);
    cr_expect(unlink(one) == 0 && unlink(other) == 0);
}

Test(trace_output, kinds_are_named_alone_and_in_groups)
{
    uint64_t kinds, usual;
    cr_assert(cw_trace_kinds_read(&usual, "default", &err) == CW_OK);
    cr_assert(cw_trace_kinds_read(&kinds, "kernel,nvtx_mark", &err) == CW_OK);
    cr_expect(kinds == (CW_TRACE_BIT(CW_TRACE_KERNEL) | CW_TRACE_BIT(CW_TRACE_NVTX_MARK)));
    cr_assert(cw_trace_kinds_read(&kinds, "-runtime", &err) == CW_OK);
    cr_expect(kinds == (usual & ~CW_TRACE_BIT(CW_TRACE_RUNTIME)));
    cr_assert(cw_trace_kinds_read(&kinds, "all,-api,driver", &err) == CW_OK);
    cr_expect(kinds & CW_TRACE_BIT(CW_TRACE_DRIVER) && !(kinds & CW_TRACE_BIT(CW_TRACE_RUNTIME)));
    cr_expect(!(kinds & CW_TRACE_BIT(CW_TRACE_ACCOUNT)), "it comes by itself");
    cr_expect(cw_trace_kinds_read(&kinds, "kernel,kernle", &err) == CW_ERR_USAGE);
    cr_expect_str_eq(err.message,
                     "found the kind 'kernle', expected one that --list-kinds prints; did you mean kernel?");
    err = (struct cw_error)CW_ERROR_INIT;
    cr_expect(cw_trace_kinds_read(&kinds, "gpu,-gpu", &err) == CW_ERR_USAGE);
    cr_expect(cw_trace_kinds_read(&kinds, "", &err) == CW_ERR_USAGE);
    cr_expect(cw_trace_kinds_read(&kinds, "account", &err) == CW_ERR_USAGE);
}

/* A job of thousands of processes, one after another, has a file of each open only while it needs it. */
Test(trace_output, files_of_many_processes_are_not_all_open)
{
    enum { PROCESSES = 320 };
    char pattern[96], name[96];
    snprintf(pattern, sizeof pattern, "%s/%%p.cwd", folder);
    open_output(pattern);
    const uint32_t before = count_descriptors();
    for (uint32_t p = 0; p < PROCESSES; p++) {
        add_process(1000 + p, "0");
        cr_assert_eq(send(p, 1, "type", 2, 1), CW_OK, "%s", err.message);
    }
    cr_expect_leq(count_descriptors(), before + 300);
    for (uint32_t p = 0; p < PROCESSES; p += 100)
        cr_assert_eq(send(p, 2, "more", 1, 2), CW_OK, "%s", err.message);
    end_output();
    for (uint32_t p = 0; p < PROCESSES; p++) {
        snprintf(name, sizeof name, "%s/%u.cwd", folder, 1000 + p);
        read_file(name);
        cr_expect(data.complete && trace.process_count == 1 &&
                  trace.kinds[CW_TRACE_OVERHEAD].rows == 2 + (p % 100 == 0));
        unlink(name);
    }
}
