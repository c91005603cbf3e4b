/* The top kernels of captures, with the first finding of each where there is one: example_views FILE.cwd...
 *     cc example_views.c $(pkg-config --cflags --libs counterworks) -o example_views */
#include <counterworks/counterworks.h>

enum { TOP = 5 };

/* Captures of ranges have advice; of a trace there are its kernels alone. */
static enum counterworks_status print_top(const struct counterworks_capture *capture,
                                          const struct counterworks_chip *chip, struct counterworks_error *error)
{
    const struct counterworks_request request = {.size = sizeof request, .by = "kernel", .top = TOP};
    const char *names[TOP], *findings[TOP] = {"", "", "", "", ""};
    double total[TOP], share[TOP];
    struct counterworks_table table = {.size = sizeof table};
    struct counterworks_view *view;
    enum counterworks_status status = chip ? counterworks_advise(&view, capture, chip, NULL, &request, NULL, error)
                                           : counterworks_view_open(&view, capture, NULL, &request, NULL, error);
    if (status != COUNTERWORKS_OK)
        return status;
    counterworks_view_table(view, 0, &table);
    const uint64_t count = table.row_count < TOP ? table.row_count : TOP;
    const struct counterworks_cells cells[] = {
        {.column = 0, .texts = names},
        {.column = counterworks_view_find_column(view, 0, "total_ns"), .reals = total},
        {.column = counterworks_view_find_column(view, 0, "share"), .reals = share},
        {.column = counterworks_view_find_column(view, 0, "first_finding"), .texts = findings}};
    const struct counterworks_block block = {.size = sizeof block, .cells = cells, .cell_count = chip ? 4 : 3};
    status = counterworks_view_read(view, 0, 0, count, &block, error);
    for (uint64_t i = 0; i < count && status == COUNTERWORKS_OK; i++)
        printf("%5.1f %% %10.3f ms  %-28.28s %s\n", 100 * share[i], total[i] / 1e6, names[i], findings[i]);
    counterworks_view_close(view);
    return status;
}

int main(int argc, char **argv)
{
    struct counterworks_error error = {.status = COUNTERWORKS_OK};
    char text[1200];
    for (int i = 1; i < argc && error.status == COUNTERWORKS_OK; i++) {
        struct counterworks_capture_info info = {.size = sizeof info};
        struct counterworks_capture *capture;
        struct counterworks_chip *chip = NULL;
        if (counterworks_capture_open(&capture, argv[i], &error) == COUNTERWORKS_OK)
            counterworks_capture_describe(capture, &info);
        if (capture && (!info.has_metrics || !counterworks_chip_open(&chip, NULL, info.chip, &error)))
            print_top(capture, chip, &error);
        counterworks_chip_close(chip);
        counterworks_capture_close(capture);
    }
    if (error.status != COUNTERWORKS_OK)
        fprintf(stderr, "example_views: %s\n", counterworks_error_text(&error, text, sizeof text));
    return error.status;
}
