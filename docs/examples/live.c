/* Launches of a trace, printed while the program runs: live [RUN.cwd]. Link with -lcounterworks, too. */
#include "session.h"
#include "work.h"

enum { AT_ONCE = 256 };

/* Prints the rows of a view from row `seen` on; returns the number of rows. */
static uint64_t print_rows(const struct counterworks_view *view, uint64_t seen, struct counterworks_error *error)
{
    struct counterworks_table table = {.size = sizeof table};
    const char *names[AT_ONCE];
    int64_t starts[AT_ONCE], ends[AT_ONCE];
    counterworks_view_table(view, 0, &table);
    const struct counterworks_cells cells[] = {
        {.column = counterworks_view_find_column(view, 0, "name"), .texts = names},
        {.column = counterworks_view_find_column(view, 0, "start_ns"), .integers = starts},
        {.column = counterworks_view_find_column(view, 0, "end_ns"), .integers = ends}};
    const struct counterworks_block block = {.size = sizeof block, .cells = cells, .cell_count = 3};
    while (seen < table.row_count) {
        const uint64_t left = table.row_count - seen, count = left < AT_ONCE ? left : AT_ONCE;
        if (counterworks_view_read(view, 0, seen, count, &block, error) != COUNTERWORKS_OK)
            return seen;
        for (uint64_t i = 0; i < count; i++)
            fprintf(stderr, "%-20.20s %9.3f us\n", names[i], (double)(ends[i] - starts[i]) / 1e3);
        seen += count;
    }
    return seen;
}

/* Reads the capture as it is now, and prints the launches that it did not have before. While it has no row at all, it
 * cannot be opened. */
static void look(const char *path, uint64_t *seen)
{
    const struct counterworks_request request = {.size = sizeof request, .kinds = "kernel"};
    struct counterworks_error error;
    struct counterworks_capture *capture = NULL;
    struct counterworks_view *view = NULL;
    if (path && counterworks_capture_open(&capture, path, &error) == COUNTERWORKS_OK &&
        counterworks_view_open(&view, capture, NULL, &request, NULL, &error) == COUNTERWORKS_OK)
        *seen = print_rows(view, *seen, &error);
    counterworks_view_close(view);
    counterworks_capture_close(capture);
}

int main(int argc, char **argv)
{
    struct counterworks_collect_options options = COUNTERWORKS_COLLECT_OPTIONS;
    uint64_t seen = 0;
    options.output = argc > 1 ? argv[1] : NULL;
    struct counterworks_collect *session = session_open(COUNTERWORKS_COLLECT_TRACE, &options);
    work_begin();
    counterworks_collect_start(session);
    for (int i = 0; i < 3; i++) {
        work_step();
        counterworks_collect_flush(session);
        look(options.output, &seen);
    }
    counterworks_collect_stop(session);
    session_close(session);
    look(options.output, &seen);
    work_print("live", work_end());
    return 0;
}
