/* native_values CHIP METRICS.txt IMAGE...: what NVIDIA's evaluator gives for native counter data, as JSON on stdout:
 * {"metrics": [names], "ranges": [[values of a range], ...]}, the ranges of all images in order. A metric that their
 * library does not know is an error. Infinities and NaN are the strings "inf", "-inf", "nan". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "host/nvperf/nvperf.h"

enum { MOST_METRICS = 300000 };

static void put_value(double value)
{
    if (isnan(value))
        printf("\"nan\"");
    else if (isinf(value))
        printf(value > 0 ? "\"inf\"" : "\"-inf\"");
    else
        printf("%.17g", value);
}

static size_t split_lines(char *text, const char **names)
{
    size_t count = 0;
    for (char *line = strtok(text, "\n"); line && count < MOST_METRICS; line = strtok(NULL, "\n"))
        if (*line)
            names[count++] = line;
    return count;
}

static enum cw_status put_image(const struct cw_nvperf *library, const char *chip, const char *path,
                                const char *const *names, size_t count, bool *first, struct cw_error *err)
{
    struct cw_bytes file;
    enum cw_status status = cw_file_read(&file, path, (size_t)1 << 30, err);
    if (status != CW_OK)
        return status;
    struct cw_nvperf_evaluator *evaluator = NULL;
    struct cw_nvperf_requests *requests = NULL;
    size_t ranges = 0;
    double *values = calloc(count + 1, sizeof *values);
    uint8_t *image = aligned_alloc(64, (file.size + 64) / 64 * 64);
    if (!values || !image)
        exit(CW_ERR_NOMEM);
    memcpy(image, file.data, file.size);
    status = cw_nvperf_evaluator_create(&evaluator, library, chip, CW_NVPERF_PROFILER, image, file.size, err);
    if (status == CW_OK)
        status = cw_nvperf_requests_create(&requests, evaluator, names, count, err);
    if (status == CW_OK)
        status = cw_nvperf_range_count(evaluator, &ranges, err);
    for (size_t i = 0; status == CW_OK && i < ranges; i++) {
        status = cw_nvperf_evaluate(evaluator, requests, i, values, err);
        printf("%s[", *first ? "" : ",\n");
        *first = false;
        for (size_t k = 0; status == CW_OK && k < count; k++) {
            printf(k ? "," : "");
            put_value(values[k]);
        }
        printf("]");
    }
    cw_nvperf_requests_destroy(requests);
    cw_nvperf_evaluator_destroy(evaluator);
    free(values);
    free(image);
    cw_bytes_free(&file);
    return status;
}

int main(int argc, char **argv)
{
    static const char *names[MOST_METRICS];
    const struct cw_nvperf *library;
    struct cw_error err = CW_ERROR_INIT;
    struct cw_bytes list = {0};
    bool first = true;
    char text[1200];
    if (argc < 4) {
        fprintf(stderr, "usage: native_values CHIP METRICS.txt IMAGE...\n");
        return CW_ERR_USAGE;
    }
    enum cw_status status = cw_nvperf_open(&library, NULL, &err);
    if (status == CW_OK)
        status = cw_file_read(&list, argv[2], 64 << 20, &err);
    size_t count = status == CW_OK ? split_lines((char *)list.data, names) : 0;
    printf("{\"metrics\": [");
    for (size_t i = 0; i < count; i++)
        printf("%s\"%s\"", i ? ",\n" : "", names[i]);
    printf("],\n\"ranges\": [");
    for (int i = 3; i < argc && status == CW_OK; i++)
        status = put_image(library, argv[1], argv[i], names, count, &first, &err);
    printf("]}\n");
    cw_bytes_free(&list);
    if (status != CW_OK)
        fprintf(stderr, "native_values: %s\n", cw_error_format(&err, text, sizeof text));
    return status;
}
