/* Threads that make views of the same captures, and read one that all of them have: each file is the same for all.
 * A program of its own, as neither Criterion nor its fork works with ThreadSanitizer. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/counterworks/counterworks.h"

enum { THREADS = 4, ROUNDS = 3 };
static const char *const metrics[] = {"sm__cycles_active.avg", "dram__bytes_read.sum"};
static const char *const files[] = {"view.json", "trace.h5", "samples.json", "report.html"};
enum { FILES = sizeof files / sizeof *files };

static struct counterworks_capture *ranges, *trace, *samples;
static struct counterworks_chip *gh100;
static struct counterworks_view *shared; /* of the ranges */
static pthread_barrier_t begin;

#define GOOD(call) good(call, &error, #call)
static void good(enum counterworks_status status, const struct counterworks_error *error, const char *call)
{
    char text[1200];
    if (status == COUNTERWORKS_OK)
        return;
    fprintf(stderr, "%s: %s\n", call, counterworks_error_text(error, text, sizeof text));
    exit(1);
}

static void write_file(struct counterworks_view *view, enum counterworks_format format, int thread, int file)
{
    struct counterworks_error error = {0};
    char path[32];
    snprintf(path, sizeof path, "%d.%s", thread, files[file]);
    GOOD(counterworks_view_write(view, format, path, NULL, &error));
}

/* The user is the thread's number. */
static void *use(void *user)
{
    const int thread = (int)(size_t)user;
    const struct counterworks_request by_kernel = {.size = sizeof by_kernel, .by = "kernel"};
    struct counterworks_error error = {0};
    pthread_barrier_wait(&begin);
    for (int i = 0; i < ROUNDS; i++) {
        double values[64];
        const struct counterworks_block block = {.size = sizeof block, .values = values};
        struct counterworks_view *view;
        GOOD(counterworks_view_open(&view, trace, NULL, &by_kernel, NULL, &error));
        write_file(view, COUNTERWORKS_HDF5, thread, 1);
        counterworks_view_close(view);
        write_file(shared, COUNTERWORKS_JSON, thread, 0);
        GOOD(counterworks_view_read(shared, 0, (uint64_t)thread, 1, &block, &error));
        GOOD(counterworks_view_open(&view, samples, NULL, NULL, NULL, &error));
        write_file(view, COUNTERWORKS_JSON, thread, 2);
        counterworks_view_close(view);
        GOOD(counterworks_report(&view, ranges, gh100, NULL, NULL, NULL, &error));
        write_file(view, COUNTERWORKS_HTML, thread, 3);
        counterworks_view_close(view);
        GOOD(counterworks_advise(&view, ranges, gh100, NULL, NULL, NULL, &error));
        counterworks_view_close(view);
    }
    return NULL;
}

static struct counterworks_capture *open_capture(const char *folder, const char *name)
{
    struct counterworks_error error = {0};
    struct counterworks_capture *capture;
    char path[512];
    snprintf(path, sizeof path, "%s/captures/%s.cwd", folder, name);
    GOOD(counterworks_capture_open(&capture, path, &error));
    return capture;
}

int main(int argc, char **argv)
{
    const struct counterworks_request request = {.size = sizeof request, .metrics = {2, metrics}};
    struct counterworks_error error = {0};
    struct counterworks *data;
    pthread_t threads[THREADS];
    if (argc != 2) {
        fputs("usage: threads DATA-FOLDER, in a folder for its files\n", stderr);
        return 2;
    }
    GOOD(counterworks_open(&data, argv[1], &error));
    GOOD(counterworks_chip_open(&gh100, data, "GH100", &error));
    ranges = open_capture(argv[1], "transformer");
    trace = open_capture(argv[1], "trace_train");
    samples = open_capture(argv[1], "pc_gemm");
    GOOD(counterworks_view_open(&shared, ranges, gh100, &request, NULL, &error));
    pthread_barrier_init(&begin, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, use, (void *)i) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&begin);
    counterworks_view_close(shared);
    counterworks_capture_close(ranges);
    counterworks_capture_close(trace);
    counterworks_capture_close(samples);
    counterworks_chip_close(gh100);
    counterworks_close(data);
    int differences = 0;
    for (int file = 0; file < FILES; file++)
        for (int i = 1; i < THREADS; i++) {
            char command[96];
            snprintf(command, sizeof command, "cmp 0.%s %d.%s", files[file], i, files[file]);
            differences += system(command) != 0;
        }
    return differences ? 1 : 0;
}
