/* Data folders, sets and chips. */
#include <stdlib.h>
#include <string.h>

#include "lib/handles.h"
#include "metricdb/chip_files.h"
#include "metricdb/chip_load.h"
#include "metricdb/formula_load.h"
#include "metricdb/node.h"
#include "metricdb/set.h"
#include "view/metrics.h"
#include "view/source.h"

static int by_name(const void *a, const void *b)
{
    const struct cw_lib_name *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static enum cw_status list_chips(struct counterworks *data, struct cw_error *err)
{
    const struct cw_chip_file *files;
    size_t count, n = 0;
    enum cw_status status = cw_chip_files(&files, &count, data->folder, data->arena, err);
    for (size_t i = 0; status == CW_OK && i < count; i++)
        data->chip_count += files[i].name_count;
    data->chips = cw_arena_alloc(data->arena, data->chip_count, sizeof *data->chips);
    if (status != CW_OK || !data->chips)
        return status == CW_OK ? cw_error_nomem(err) : status;
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < files[i].name_count; k++)
            data->chips[n++] = (struct cw_lib_name){files[i].names[k], files[i].path};
    qsort(data->chips, n, sizeof *data->chips, by_name);
    return CW_OK;
}

enum counterworks_status counterworks_open(struct counterworks **data, const char *folder,
                                           struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    struct counterworks *made = cw_lib_handle(sizeof *made);
    enum cw_status status = made ? CW_OK : CW_ERR_NOMEM;
    if (made && folder && !(made->folder = cw_arena_strdup(made->arena, folder)))
        status = CW_ERR_NOMEM;
    if (status == CW_OK)
        status = list_chips(made, &call.err);
    if (status != CW_OK)
        cw_lib_drop(made);
    *data = status == CW_OK ? made : NULL;
    return cw_lib_finish(&call, status, error);
}

void counterworks_close(struct counterworks *data)
{
    cw_lib_drop(data);
}

size_t counterworks_chip_count(const struct counterworks *data)
{
    return data->chip_count;
}

const char *counterworks_chip_name(const struct counterworks *data, size_t index)
{
    return data->chips[index].name;
}

/* The last user of the chip's arena destroys it. A chip has a name or a file. */
static enum cw_status load_chip(struct counterworks_chip *made, const struct counterworks *data, const char *name,
                                const char *path, struct cw_error *err)
{
    made->words = cw_lib_words_make(made->arena);
    made->share = made->words ? cw_lib_share_make(made->arena) : NULL;
    if (!made->share)
        return cw_error_nomem(err);
    if (data && data->folder && !(made->folder = cw_arena_strdup(made->arena, data->folder)))
        return cw_error_nomem(err);
    const struct cw_lib_name wanted = {name, path}, *known = NULL;
    if (data && name) /* the folder's list has its file */
        known = bsearch(&wanted, data->chips, data->chip_count, sizeof wanted, by_name);
    if (!path && !known)
        return cw_chip_load(&made->chip, made->folder, name, made->arena, err);
    enum cw_status status = cw_chip_load_file(&made->chip, path ? path : known->path, made->arena, err);
    return status == CW_OK && known ? cw_chip_rename(&made->chip, name, made->arena, err) : status;
}

static enum cw_status load(struct counterworks_chip *made, const struct counterworks *data, const char *name,
                           const char *path, struct cw_error *err)
{
    CW_TRY(load_chip(made, data, name, path, err));
    return cw_formulas_load_shipped(&made->chip, made->folder, made->arena, err);
}

static enum counterworks_status open_chip(struct counterworks_chip **chip, const struct counterworks *data,
                                          const char *name, const char *path, struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    struct counterworks_chip *made = cw_lib_handle(sizeof *made);
    enum cw_status status = made ? load(made, data, name, path, &call.err) : CW_ERR_NOMEM;
    if (status != CW_OK)
        counterworks_chip_close(made);
    *chip = status == CW_OK ? made : NULL;
    return cw_lib_finish(&call, status, error);
}

enum counterworks_status counterworks_chip_open(struct counterworks_chip **chip, const struct counterworks *data,
                                                const char *name, struct counterworks_error *error)
{
    return open_chip(chip, data, name, NULL, error);
}

enum counterworks_status counterworks_chip_open_file(struct counterworks_chip **chip, const struct counterworks *data,
                                                     const char *path, struct counterworks_error *error)
{
    return open_chip(chip, data, NULL, path, error);
}

static enum cw_status load_of_node(struct counterworks_chip *made, const struct counterworks *data, const char *facts,
                                   const char *name, struct cw_error *err)
{
    struct cw_node node;
    CW_TRY(cw_node_load(&node, facts, made->arena, err));
    if (!name)
        CW_TRY(cw_node_chip(&name, &node, err));
    CW_TRY(load(made, data, name, NULL, err));
    return cw_node_apply(&made->chip, &node, made->arena, err);
}

enum counterworks_status counterworks_chip_open_node(struct counterworks_chip **chip, const struct counterworks *data,
                                                     const char *facts, const char *name,
                                                     struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    struct counterworks_chip *made = cw_lib_handle(sizeof *made);
    enum cw_status status = made ? load_of_node(made, data, facts, name, &call.err) : CW_ERR_NOMEM;
    if (status != CW_OK)
        counterworks_chip_close(made);
    *chip = status == CW_OK ? made : NULL;
    return cw_lib_finish(&call, status, error);
}

enum counterworks_status counterworks_chip_open_of(struct counterworks_chip **chip, const struct counterworks *data,
                                                   const char *path, struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    struct cw_arena *arena = cw_arena_create();
    const char *name;
    enum cw_status status = arena ? cw_source_chip(&name, path, arena, &call.err) : cw_error_nomem(&call.err);
    enum counterworks_status opened = cw_lib_finish(&call, status, error);
    *chip = NULL;
    if (status == CW_OK)
        opened = counterworks_chip_open(chip, data, name, error);
    cw_arena_destroy(arena);
    return opened;
}

enum counterworks_status counterworks_chip_add_metrics(struct counterworks_chip *chip, const char *path,
                                                       struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    enum cw_status status = cw_formulas_load(&chip->chip, path, chip->arena, &call.err);
    return cw_lib_finish(&call, status, error);
}

enum counterworks_status counterworks_chip_add_legacy(struct counterworks_chip *chip, const char *const *names,
                                                      size_t count, struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    return cw_lib_finish(&call, cw_view_add_legacy(chip, names, count, &call.err), error);
}

void counterworks_chip_close(struct counterworks_chip *chip)
{
    if (chip && chip->share) {
        cw_lib_words_free(chip->words);
        cw_lib_leave(chip->share);
        chip->arena = NULL;
    }
    cw_lib_drop(chip);
}

void counterworks_chip_tell(struct counterworks_chip *chip, void (*tell)(void *user, const char *line), void *user)
{
    chip->tell = tell;
    chip->user = user;
}

/* ---- sets ------------------------------------------------------------------------------------------------------- */

enum counterworks_status counterworks_set_each(const struct counterworks *data,
                                               bool (*take)(void *, const char *, const char *, size_t), void *user,
                                               struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    struct cw_arena *arena = cw_arena_create();
    const char *const *names;
    size_t count;
    bool more = true;
    enum cw_status status =
        arena ? cw_set_list(&names, &count, data->folder, arena, &call.err) : cw_error_nomem(&call.err);
    for (size_t i = 0; status == CW_OK && more && i < count; i++) {
        struct cw_set set;
        status = cw_set_load(&set, data->folder, names[i], NULL, arena, &call.err);
        more = status == CW_OK && take(user, set.name, set.title, set.metric_count);
    }
    cw_arena_destroy(arena);
    return cw_lib_finish(&call, status, error);
}

/* Sets serve many chips, so a metric that one chip lacks is no error. */
static void tell_missing(const struct counterworks_chip *chip, const struct cw_set *set)
{
    struct cw_writer line;
    cw_writer_init(&line);
    cw_write_format(&line, "the set %s: %s cannot give %zu of its %zu metrics:", set->name, chip->chip->name,
                    set->missing_count, set->missing_count + set->metric_count);
    for (size_t i = 0; i < set->missing_count; i++)
        cw_write_format(&line, "%s %s", i ? "," : "", set->missing[i].name);
    cw_lib_tell(chip, &line);
}

enum counterworks_status counterworks_set_metrics(const struct counterworks_chip *chip, const char *name,
                                                  bool (*take)(void *, const char *), void *user,
                                                  struct counterworks_error *error)
{
    struct cw_lib_call call = cw_lib_enter();
    struct cw_arena *arena = cw_arena_create();
    struct cw_set set;
    enum cw_status status =
        arena ? cw_set_load(&set, chip->folder, name, chip->chip, arena, &call.err) : cw_error_nomem(&call.err);
    if (status == CW_OK && set.missing_count)
        tell_missing(chip, &set);
    for (size_t i = 0; status == CW_OK && i < set.metric_count && take(user, set.metrics[i]); i++)
        continue;
    cw_arena_destroy(arena);
    return cw_lib_finish(&call, status, error);
}
