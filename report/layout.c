#include "report/layout.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "json/json_tree.h"
#include "metricdb/data.h"
#include "metricdb/yaml.h"

enum { LARGEST = 1 << 20 };

struct loading {
    struct cw_layout *layout;
    size_t room;
};

/* The tree of a node; texts below "metrics" are names. */
static json_t *convert(struct loading *l, const struct cw_yaml *node, bool names)
{
    if (node->kind == CW_YAML_SCALAR) {
        if (names && l->layout->count < l->room)
            l->layout->metrics[l->layout->count++] = node->text;
        return json_string(node->text);
    }
    json_t *made = node->kind == CW_YAML_SEQUENCE ? json_array() : json_object();
    for (size_t i = 0; i < node->count; i++)
        if (node->kind == CW_YAML_SEQUENCE)
            cw_json_append(&made, convert(l, &node->items[i], names));
        else
            cw_json_set(&made, node->keys[i].text,
                        convert(l, &node->items[i], strcmp(node->keys[i].text, "metrics") == 0));
    return made;
}

enum cw_status cw_layout_parse(struct cw_layout *layout, const void *text, size_t size, const char *path,
                               struct cw_arena *arena, struct cw_error *err)
{
    static const char *const keys[] = {"schema", "summary", "stalls", "roofline", "memory", NULL};
    struct cw_yaml_reader in = {.source = path, .arena = arena, .err = err, .status = CW_OK};
    const struct cw_yaml *root = cw_yaml_load(&in, "a page's layout", keys, 1, text, size);
    struct loading l = {layout, size};
    *layout = (struct cw_layout){.metrics = root ? cw_yaml_array(&in, size, sizeof *layout->metrics) : NULL};
    if (in.status != CW_OK)
        return in.status;
    layout->tree = convert(&l, root, false);
    return layout->tree ? CW_OK : cw_error_nomem(err);
}

enum cw_status cw_layout_load(struct cw_layout *layout, const char *data, struct cw_arena *arena, struct cw_error *err)
{
    static const char none[] = "schema: 1\n";
    char path[CW_DATA_PATH_MAX];
    struct cw_bytes file = {0};
    *layout = (struct cw_layout){0};
    enum cw_status status = cw_data_path(path, data, "report", err);
    if (status != CW_OK)
        return status;
    if (access(path, F_OK) != 0) /* a data folder of one's own need not have it */
        status = cw_layout_parse(layout, none, sizeof none - 1, path, arena, err);
    else if ((status = cw_file_read(&file, path, LARGEST, err)) == CW_OK)
        status = cw_layout_parse(layout, file.data, file.size, path, arena, err);
    cw_bytes_free(&file);
    return status == CW_OK ? cw_sections_load(&layout->sections, data, "sections", arena, err) : status;
}
