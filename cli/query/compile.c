/* metric-query compile: writes chip files in their fastest form. */
#define _GNU_SOURCE
#include "cli/query/query.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "cli/common/cli.h"
#include "metricdb/chip_load.h"
#include "metricdb/compiled.h"

enum { LARGEST_FILE = 64 << 20, MOST_FILES = 1024 };

struct options {
    const char *folder;
    const char *files[MOST_FILES];
    size_t count;
    bool force, quiet;
};

static const struct cw_option option_list[] = {
    {"output", 'o', "FOLDER", "the folder (default: the folder beside the commands, where they look for it)",
     CW_OPTION_TEXT(struct options, folder)},
    {CW_OPTION_GROUP(struct options, force, cw_cli_force_options)},
    {CW_OPTION_GROUP(struct options, quiet, cw_cli_quiet_options)},
    {.called = "files", CW_OPTION_LIST(struct options, files, count)},
    {0},
};

static enum cw_status compile(const char *path, const char *folder, bool force, struct cw_error *err)
{
    char name[CW_PATH_MAX], to[2 * CW_PATH_MAX];
    struct cw_bytes file = {0};
    struct cw_writer out;
    const struct cw_chip *chip;
    struct cw_arena *arena = cw_arena_create();
    cw_writer_init(&out);
    snprintf(to, sizeof to, "%s/%s", folder, cw_compiled_name(path, name));
    enum cw_status status = cw_file_may_replace(to, &cw_compiled_kind, force, err);
    if (status == CW_OK)
        status = arena ? cw_file_read(&file, path, LARGEST_FILE, err) : cw_error_nomem(err);
    if (status == CW_OK)
        status = cw_chip_parse(&chip, file.data, file.size, path, arena, err);
    if (status == CW_OK)
        status = cw_compiled_write(chip, &out, err);
    if (status == CW_OK)
        status = cw_file_write(to, out.data, out.size, err);
    cw_writer_free(&out);
    cw_bytes_free(&file);
    cw_arena_destroy(arena);
    return status;
}

/* Makes the folder and its parents. */
static enum cw_status make_folder(const char *path, struct cw_error *err)
{
    char part[CW_PATH_MAX];
    size_t length = strlen(path);
    if (length >= sizeof part)
        return cw_error_set(err, CW_ERR_USAGE, "found a folder's name of %zu characters, expected at most %zu", length,
                            sizeof part - 1);
    for (size_t i = 1; i <= length; i++)
        if (path[i] == '/' || !path[i]) {
            snprintf(part, sizeof part, "%.*s", (int)i, path);
            if (mkdir(part, 0777) != 0 && errno != EEXIST)
                return cw_error_set(err, CW_ERR_IO, "%s: cannot create: %s", part, strerror(errno));
        }
    return CW_OK;
}

static enum cw_status compile_all(const char *folder, bool force, struct cw_arena *arena, struct cw_error *err)
{
    const char *const *names;
    size_t count;
    char dir[CW_PATH_MAX], path[2 * CW_PATH_MAX];
    enum cw_status status = cw_data_list(NULL, "chips", &names, &count, arena, err);
    if (status == CW_OK)
        status = cw_data_dir(dir, NULL, err);
    for (size_t i = 0; status == CW_OK && i < count; i++) {
        snprintf(path, sizeof path, "%s/chips/%s.yaml", dir, names[i]);
        status = compile(path, folder, force, err);
    }
    return status;
}

static enum cw_status run(const void *options, struct counterworks_chip *handle, struct cw_arena *arena,
                          struct cw_error *err)
{
    const struct options *o = options;
    (void)handle;
    char beside[CW_PATH_MAX];
    const char *folder = o->folder ? o->folder : beside;
    if (!o->folder && !cw_compiled_folder(beside))
        return cw_error_set(err, CW_ERR_UNSUPPORTED,
                            "the system does not say where this program is, expected -o FOLDER");
    enum cw_status status = make_folder(folder, err);
    if (status == CW_OK && !o->count)
        status = compile_all(folder, o->force, arena, err);
    for (size_t i = 0; status == CW_OK && i < o->count; i++)
        status = compile(o->files[i], folder, o->force, err);
    return status;
}

int cw_query_compile(int argc, char **argv)
{
    static const struct cw_usage usage = {
        option_list, "[FILE...]",
        "Compiles chip files into a form that loads faster; without FILE, all of the database. The commands "
        "load that form as long as the YAML text stays the same. The build does this for the chips that ship.\v"
        "Example:\n  $0"};
    struct options options = {0};
    return cw_cli_run(&usage, argc, argv, &options, NULL, run);
}
