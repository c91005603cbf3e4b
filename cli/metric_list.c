#include "cli/metric_list.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/file.h"
#include "metricdb/set.h"

enum { LARGEST_LIST = 64 << 20 };

static enum cw_status add(struct cw_metric_list *list, const char *name, size_t length, struct cw_arena *arena,
                          struct cw_error *err)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        const char **grown = realloc(list->names, capacity * sizeof *grown);
        if (!grown)
            return cw_error_nomem(err);
        list->names = grown;
        list->capacity = capacity;
    }
    list->names[list->count] = cw_arena_strndup(arena, name, length);
    return list->names[list->count++] ? CW_OK : cw_error_nomem(err);
}

/* Names in `text`, separated by any of `separators` and by blanks. */
static enum cw_status split(struct cw_metric_list *list, const char *text, const char *separators,
                            struct cw_arena *arena, struct cw_error *err)
{
    enum cw_status status = CW_OK;
    while (status == CW_OK) {
        text += strspn(text, separators);
        size_t length = strcspn(text, separators);
        if (!length)
            break;
        status = add(list, text, length, arena, err);
        text += length;
    }
    return status;
}

enum cw_status cw_metric_list_names(struct cw_metric_list *list, const char *comma_separated, struct cw_arena *arena,
                                    struct cw_error *err)
{
    return split(list, comma_separated, ", \t\r\n", arena, err);
}

enum cw_status cw_metric_list_file(struct cw_metric_list *list, const char *path, struct cw_arena *arena,
                                   struct cw_error *err)
{
    struct cw_bytes file;
    enum cw_status status = cw_file_read(&file, path, LARGEST_LIST, err);
    char *line = (char *)file.data;
    while (status == CW_OK && line && *line) {
        size_t length = strcspn(line, "\n");
        char *next = line[length] ? line + length + 1 : NULL;
        line[length] = 0;
        line[strcspn(line, "#")] = 0;
        status = split(list, line, ", \t\r", arena, err);
        line = next;
    }
    cw_bytes_free(&file);
    return status;
}

enum cw_status cw_metric_list_set(struct cw_metric_list *list, const char *set_name, const struct cw_chip *chip,
                                  struct cw_arena *arena, struct cw_error *err)
{
    struct cw_set set;
    enum cw_status status = cw_set_load(&set, set_name, chip, arena, err);
    for (size_t i = 0; status == CW_OK && i < set.metric_count; i++)
        status = add(list, set.metrics[i], strlen(set.metrics[i]), arena, err);
    return status;
}

void cw_metric_list_free(struct cw_metric_list *list)
{
    free(list->names);
    *list = (struct cw_metric_list){0};
}
