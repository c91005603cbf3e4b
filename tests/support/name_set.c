/* name_set: the lines of standard input as a set: their number and a hash that does not depend on their order.
 * name_set --library range|pm: the same of the names that NVIDIA's host library enumerates for a profiler, a line for
 * each of its chips; the exit status is 4 where it is not found. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "host/nvperf/nvperf.h"

struct name_set {
    uint64_t count;
    unsigned __int128 sum; /* of the hashes of all names */
};

static void add(struct name_set *set, const char *name, size_t length)
{
    XXH128_hash_t hash = XXH3_128bits(name, length);
    set->count++;
    set->sum += (unsigned __int128)hash.high64 << 64 | hash.low64;
}

static void print(const struct name_set *set)
{
    printf("%" PRIu64 " %016" PRIx64 "%016" PRIx64 "\n", set->count, (uint64_t)(set->sum >> 64), (uint64_t)set->sum);
}

static void add_type(struct name_set *set, const struct cw_nvperf_evaluator *e, enum cw_nvperf_type type)
{
    static const char *const rollups[] = {".sum", ".avg", ".min", ".max"};
    const char *suffixes[CW_NVPERF_SUBMETRICS];
    size_t count = cw_nvperf_submetrics(e, type, suffixes);
    for (size_t i = 0; i < cw_nvperf_metric_count(e, type); i++)
        for (size_t r = 0; r < (type == CW_NVPERF_RATIO ? 1 : 4); r++)
            for (size_t s = 0; s < count; s++) {
                char name[512];
                int length = snprintf(name, sizeof name, "%s%s%s", cw_nvperf_metric_name(e, type, i),
                                      type == CW_NVPERF_RATIO ? "" : rollups[r], suffixes[s]);
                add(set, name, (size_t)length);
            }
}

static enum cw_status print_library(enum cw_nvperf_activity activity, struct cw_error *err)
{
    const struct cw_nvperf *library;
    const char *const *chips;
    size_t count;
    enum cw_status status = cw_nvperf_open(&library, NULL, err);
    if (status == CW_OK)
        status = cw_nvperf_chips(library, &chips, &count, err);
    for (size_t i = 0; status == CW_OK && i < count; i++) {
        struct cw_nvperf_evaluator *e;
        struct name_set set = {0};
        status = cw_nvperf_evaluator_create(&e, library, chips[i], activity, NULL, 0, err);
        if (status != CW_OK)
            break;
        for (int type = 0; type < CW_NVPERF_TYPE_COUNT; type++)
            add_type(&set, e, (enum cw_nvperf_type)type);
        printf("%s ", chips[i]);
        print(&set);
        cw_nvperf_evaluator_destroy(e);
    }
    return status;
}

int main(int argc, char **argv)
{
    struct cw_error err = CW_ERROR_INIT;
    char line[512];
    struct name_set set = {0};
    if (argc == 3 && strcmp(argv[1], "--library") == 0) {
        bool pm = strcmp(argv[2], "pm") == 0;
        enum cw_status status = print_library(pm ? CW_NVPERF_PM_SAMPLING : CW_NVPERF_PROFILER, &err);
        if (status != CW_OK)
            fprintf(stderr, "name_set: %s\n", err.message);
        return status;
    }
    while (fgets(line, sizeof line, stdin))
        add(&set, line, strcspn(line, "\n"));
    print(&set);
    return 0;
}
