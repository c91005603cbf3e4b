/* The instructions per cycle of each range of a capture: example RUN.cwd [METRIC].
 *     cc example.c $(pkg-config --cflags --libs counterworks) -o example */
#include <counterworks/counterworks.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const struct counterworks_error *error)
{
    char text[1200];
    fprintf(stderr, "example: %s\n", counterworks_error_text(error, text, sizeof text));
    return error->status;
}

int main(int argc, char **argv)
{
    const char *name = argc > 2 ? argv[2] : "sm__inst_executed.avg.per_cycle_active";
    struct counterworks_error error;
    struct counterworks *data = NULL;
    struct counterworks_chip *chip = NULL;
    struct counterworks_capture *capture = NULL;
    struct counterworks_capture_info info = {.size = sizeof info};
    if (counterworks_capture_open(&capture, argc > 1 ? argv[1] : "", &error) != COUNTERWORKS_OK)
        return fail(&error);
    counterworks_capture_describe(capture, &info);
    double *values = calloc(info.row_count + 1, sizeof *values);
    int8_t *statuses = calloc(info.row_count + 1, 1);
    if (!values || !statuses || counterworks_open(&data, NULL, &error) != COUNTERWORKS_OK ||
        counterworks_chip_open(&chip, data, info.chip, &error) != COUNTERWORKS_OK ||
        counterworks_evaluate(capture, chip, &name, 1, NULL, values, statuses, &error) != COUNTERWORKS_OK)
        return fail(&error);
    for (uint64_t i = 0; i < info.row_count; i++) {
        struct counterworks_row row = {.size = sizeof row};
        counterworks_capture_row(capture, i, &row);
        printf("%-20.20s %12g  %s\n", row.kernel, values[i], counterworks_value_status_text(statuses[i]));
    }
    counterworks_chip_close(chip);
    counterworks_close(data);
    counterworks_capture_close(capture);
    free(values);
    free(statuses);
}
