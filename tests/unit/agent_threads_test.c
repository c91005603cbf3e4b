/* Threads that launch at the same time, where passes take turns: with the library's own lock and waits. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/common/effort.h"
#include "tests/support/fake_cupti.h"

enum { THREADS = 6, LAUNCHES = 300, PARTS = 5 };

static struct fake_agent agent;
static atomic_uint numbers, launching, running, seen, spoilt;
static uint32_t sent, skipped, by_part[PARTS];

/* A kernel runs between the return of the library's callback and its next one. */
static void launch(void)
{
    uint32_t number = ++numbers;
    fake_cupti_launch_numbered(CUPTI_API_ENTER, number);
    launching++;
    seen += running;
    if (number % 3 == 0)
        usleep(100);
    launching--;
    fake_cupti_launch_numbered(CUPTI_API_EXIT, number);
}

static void *launch_all(void *user)
{
    for (int i = 0; i < LAUNCHES; i++)
        launch();
    return user;
}

/* CUPTI waits for what runs when it starts and stops, and would see half of it. */
static void called(const char *call)
{
    bool starts = strcmp(call, "cuptiRangeProfilerStart") == 0, stops = strcmp(call, "cuptiRangeProfilerStop") == 0;
    if (starts || stops)
        spoilt += launching;
    if (starts || stops)
        running = starts;
}

static void take(uint8_t *payload, size_t size)
{
    struct cw_reader in;
    struct cw_arena *arena = cw_arena_create();
    struct cw_launch one;
    cw_reader_init(&in, payload, size, "message", 0, NULL);
    cw_read_u32(&in);
    skipped += cw_read_u32(&in);
    cw_read_string(&in, arena);
    struct cw_effort effort;
    cw_effort_read(&in, &effort, arena);
    uint32_t n = cw_read_count(&in, 4, "launches");
    for (uint32_t i = 0; i < n; i++)
        cw_launch_read(&in, &one, arena);
    uint32_t part = cw_read_u32(&in);
    cr_assert(in.status == CW_OK && part < PARTS);
    by_part[part] += n;
    sent += n;
    cw_arena_destroy(arena);
}

static void *serve(void *listener)
{
    enum cw_message_type type;
    uint8_t *payload;
    size_t size;
    int fd = accept(*(int *)listener, NULL, NULL);
    while (cw_message_receive(fd, &type, &payload, &size)) {
        if (type == CW_MESSAGE_HELLO)
            fake_agent_answer(fd);
        cr_expect_neq(type, CW_MESSAGE_FAIL);
        if (type == CW_MESSAGE_RANGES) {
            take(payload, size);
            cr_expect(cw_message_send(fd, CW_MESSAGE_TAKEN, NULL, 0));
        }
        free(payload);
        if (type == CW_MESSAGE_RANGES && sent + skipped >= THREADS * LAUNCHES)
            break;
    }
    close(fd);
    return NULL;
}

Test(threads, launch_while_passes_take_turns, .timeout = 120)
{
    pthread_t server, threads[THREADS];
    fake_cupti.mode = CW_MODE_MULTIPLEX;
    fake_cupti.parts = PARTS;
    fake_cupti.called = called;
    fake_agent_listen(&agent);
    cr_assert(pthread_create(&server, NULL, serve, &agent.listener) == 0);
    InitializeInjection();
    fake_cupti_create_context();
    for (int i = 0; i < THREADS; i++)
        cr_assert(pthread_create(&threads[i], NULL, launch_all, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    fake_cupti_destroy_context();
    pthread_join(server, NULL);
    cr_expect_eq(sent + skipped, THREADS * LAUNCHES);
    cr_expect_eq(sent, seen, "%u of %u", sent, (unsigned)seen);
    cr_expect_eq(spoilt, 0);
    for (int i = 0; i < PARTS; i++)
        cr_expect_gt(by_part[i], 0);
    fake_agent_close(&agent);
}
