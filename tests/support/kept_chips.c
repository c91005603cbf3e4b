/* Finds and loads each chip once. The linker puts it in place of both functions in executables that link with
 * cw_test_kept_chips (units.cmake). */
#include <stdbool.h>
#include <string.h>

#include "metricdb/chip_files.h"
#include "metricdb/chip_load.h"

enum cw_status __real_cw_chip_file_find(const char **path, const char **spelling, const char *data, const char *name,
                                        struct cw_arena *arena, struct cw_error *err);
enum cw_status __wrap_cw_chip_file_find(const char **path, const char **spelling, const char *data, const char *name,
                                        struct cw_arena *arena, struct cw_error *err);
enum cw_status __real_cw_chip_load(const struct cw_chip **chip, const char *data, const char *name,
                                   struct cw_arena *arena, struct cw_error *err);
enum cw_status __wrap_cw_chip_load(const struct cw_chip **chip, const char *data, const char *name,
                                   struct cw_arena *arena, struct cw_error *err);

/* Chips that inputs name: in a fuzz target, to find and load them took 80 % of the time. */
static struct {
    const char *name, *path, *spelling;
    const struct cw_chip *chip; /* NULL: is not loaded yet */
} kept[64];
enum { MOST_KEPT = sizeof kept / sizeof *kept, MOST_LOADED = 8 /* of 30 MB each */ };
enum { MOST_UNKNOWN = 8 };
static const char *unknown[MOST_UNKNOWN]; /* names that the database does not have */
static struct cw_arena *of_kept;
static int loaded, unknown_count;

/* Place of the name, or where it may be kept, or MOST_KEPT. */
static size_t place_of(const char *name)
{
    size_t at = 0;
    of_kept = of_kept ? of_kept : cw_arena_create();
    while (at < MOST_KEPT && kept[at].name && strcmp(kept[at].name, name) != 0)
        at++;
    return at;
}

static bool is_unknown(const char *name)
{
    for (int i = 0; i < unknown_count; i++)
        if (strcmp(unknown[i], name) == 0)
            return true;
    return false;
}

static enum cw_status keep(size_t at, const char *data, const char *name, struct cw_arena *arena, struct cw_error *err)
{
    const char *path, *spelling;
    if (is_unknown(name))
        return cw_error_set(err, CW_ERR_USAGE, "found no chip named %.60s", name);
    const enum cw_status status = __real_cw_chip_file_find(&path, &spelling, data, name, arena, err);
    if (status == CW_ERR_USAGE && unknown_count < MOST_UNKNOWN)
        unknown[unknown_count++] = cw_arena_strdup(of_kept, name);
    CW_TRY(status);
    kept[at].path = cw_arena_strdup(of_kept, path);
    kept[at].spelling = cw_arena_strdup(of_kept, spelling);
    kept[at].name = cw_arena_strdup(of_kept, name);
    return CW_OK;
}

enum cw_status __wrap_cw_chip_file_find(const char **path, const char **spelling, const char *data, const char *name,
                                        struct cw_arena *arena, struct cw_error *err)
{
    const size_t at = place_of(name);
    if (at == MOST_KEPT)
        return __real_cw_chip_file_find(path, spelling, data, name, arena, err);
    if (!kept[at].name)
        CW_TRY(keep(at, data, name, arena, err));
    *path = kept[at].path;
    *spelling = kept[at].spelling;
    return CW_OK;
}

enum cw_status __wrap_cw_chip_load(const struct cw_chip **chip, const char *data, const char *name,
                                   struct cw_arena *arena, struct cw_error *err)
{
    const size_t at = place_of(name);
    if (at == MOST_KEPT || (!kept[at].chip && loaded == MOST_LOADED))
        return __real_cw_chip_load(chip, data, name, arena, err);
    if (!kept[at].name)
        CW_TRY(keep(at, data, name, arena, err));
    const bool first = !kept[at].chip;
    const enum cw_status status = first ? __real_cw_chip_load(&kept[at].chip, data, name, of_kept, err) : CW_OK;
    loaded += first && status == CW_OK;
    *chip = kept[at].chip;
    return status;
}
