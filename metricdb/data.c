#define _GNU_SOURCE
#include "metricdb/data.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FILES = 1024 };

static bool is_data_dir(const char *path)
{
    char chips[CW_PATH_MAX + 8];
    snprintf(chips, sizeof chips, "%s/chips", path);
    return access(chips, R_OK) == 0;
}

/* The file with this code: a program, or a library that any program loaded. */
static bool find_own_file(char path[CW_PATH_MAX - 64])
{
    struct link_map *map;
    Dl_info info;
    if (dladdr1((void *)&find_own_file, &info, (void **)&map, RTLD_DL_LINKMAP) && *map->l_name) /* empty: the program */
        return snprintf(path, CW_PATH_MAX - 64, "%s", map->l_name) < CW_PATH_MAX - 64;
    const ssize_t length = readlink("/proc/self/exe", path, CW_PATH_MAX - 65);
    path[length > 0 ? length : 0] = 0;
    return length > 0;
}

bool cw_data_beside(char path[CW_PATH_MAX])
{
    char own[CW_PATH_MAX - 64];
    if (!find_own_file(own))
        return false;
    char *slash = strrchr(own, '/');
    if (slash)
        *slash = 0;
    snprintf(path, CW_PATH_MAX, "%s/../../share/counterworks", own); /* beside lib/x86_64-linux-gnu */
    const bool above = is_data_dir(path);
    snprintf(path, CW_PATH_MAX, "%s/../share/counterworks", own);
    if (above && !is_data_dir(path))
        snprintf(path, CW_PATH_MAX, "%s/../../share/counterworks", own);
    return true;
}

enum cw_status cw_data_dir(char path[CW_PATH_MAX], const char *data, struct cw_error *err)
{
    const char *set = data ? data : getenv("CW_DATA_DIR");
    if (set && *set) {
        bool fits = snprintf(path, CW_PATH_MAX, "%s", set) < CW_PATH_MAX;
        if (fits && is_data_dir(path))
            return CW_OK;
        return cw_error_set(err, CW_ERR_IO, "%s%s, expected a folder with chips/ in it",
                            data ? "found no data in " : "CW_DATA_DIR names ", set);
    }
    if (cw_data_beside(path) && is_data_dir(path))
        return CW_OK;
    snprintf(path, CW_PATH_MAX, "%s", CW_INSTALLED_DATA_DIR);
    if (is_data_dir(path))
        return CW_OK;
    return cw_error_set(err, CW_ERR_IO, "the data folder was not found; CW_DATA_DIR may name it");
}

bool cw_data_lacks(const char *path)
{
    return access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

enum cw_status cw_data_path(char path[CW_DATA_PATH_MAX], const char *data, const char *name, struct cw_error *err)
{
    char dir[CW_PATH_MAX];
    enum cw_status status = cw_data_dir(dir, data, err);
    if (status == CW_OK)
        snprintf(path, CW_DATA_PATH_MAX, "%s/%.290s.yaml", dir, name);
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Reads the names and returns their number; stops at MOST_FILES. A NULL in `names` means out of memory; errno is 0, or
 * why the folder could not be read to its end. */
static size_t read_names(DIR *d, const char **names, struct cw_arena *arena)
{
    size_t n = 0;
    for (struct dirent *entry; n < MOST_FILES && (errno = 0, entry = readdir(d));) {
        size_t length = strlen(entry->d_name);
        if (length <= 5 || entry->d_name[0] == '.' || strcmp(entry->d_name + length - 5, ".yaml") != 0)
            continue;
        names[n] = cw_arena_strndup(arena, entry->d_name, length - 5);
        if (!names[n++])
            break;
    }
    return n;
}

enum cw_status cw_data_files(const char *path, const char *const **names, size_t *count, struct cw_arena *arena,
                             struct cw_error *err)
{
    *names = NULL;
    *count = 0;
    DIR *d = opendir(path);
    if (!d)
        return cw_error_set(err, CW_ERR_IO, "%s: %s", path, strerror(errno));
    const char **found = cw_arena_alloc(arena, MOST_FILES, sizeof(const char *));
    size_t n = found ? read_names(d, found, arena) : 0;
    const int reason = errno;
    closedir(d);
    if (!found || (n && !found[n - 1]))
        return cw_error_nomem(err);
    if (n < MOST_FILES && reason)
        return cw_error_set(err, CW_ERR_IO, "%s: cannot read: %s", path, strerror(reason));
    qsort(found, n, sizeof(const char *), by_name);
    *names = found;
    *count = n;
    return CW_OK;
}

enum cw_status cw_data_list(const char *data, const char *folder, const char *const **names, size_t *count,
                            struct cw_arena *arena, struct cw_error *err)
{
    char dir[CW_PATH_MAX], path[CW_PATH_MAX + 64];
    *names = NULL;
    *count = 0;
    enum cw_status status = cw_data_dir(dir, data, err);
    if (status != CW_OK)
        return status;
    snprintf(path, sizeof path, "%s/%.60s", dir, folder);
    return cw_data_files(path, names, count, arena, err);
}
