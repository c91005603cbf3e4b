#define _GNU_SOURCE
#include "metricdb/chip_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/suggest.h"
#include "base/words.h"
#include "metricdb/data.h"
#include "metricdb/yaml.h"

enum { HEAD = 16 << 10, LARGEST_PRODUCTS = 1 << 20 };

/* Length of the text before the section `units`, or 0 if the text has no such section. */
static size_t head_length(const char *text, size_t size)
{
    static const char section[] = "\nunits:";
    const char *at = memmem(text, size, section, sizeof section - 1);
    return at ? (size_t)(at - text) + 1 : 0;
}

static enum cw_status read_names(struct cw_chip_file *file, const char *text, size_t size, struct cw_arena *arena,
                                 struct cw_error *err)
{
    struct cw_yaml *root;
    size_t length = head_length(text, size);
    if (!length)
        return cw_error_at(err, CW_ERR_INPUT, file->path, 1, 1,
                           "found no section 'units' in the first %d bytes, expected it after 'chip' and 'also'", HEAD);
    enum cw_status status = cw_yaml_parse(&root, text, length, file->path, arena, err);
    if (status != CW_OK)
        return status;
    struct cw_yaml_reader in = {.source = file->path, .arena = arena, .err = err};
    const struct cw_yaml *also = cw_yaml_get(&in, root, "also", false);
    size_t others = also && cw_yaml_expect(&in, also, CW_YAML_SEQUENCE, "also") ? also->count : 0;
    const char **names = cw_arena_alloc(arena, others + 1, sizeof(const char *));
    if (!names)
        return cw_error_nomem(err);
    names[0] = cw_yaml_name(&in, cw_yaml_get(&in, root, "chip", true));
    for (size_t i = 0; i < others; i++)
        names[i + 1] = cw_yaml_name(&in, &also->items[i]);
    file->names = names;
    file->name_count = (uint32_t)others + 1;
    return in.status;
}

static enum cw_status read_head(struct cw_chip_file *file, struct cw_arena *arena, struct cw_error *err)
{
    char text[HEAD];
    FILE *in = fopen(file->path, "re");
    if (!in)
        return cw_error_set(err, CW_ERR_IO, "%s: %s", file->path, strerror(errno));
    size_t size = fread(text, 1, sizeof text, in);
    const bool failed = ferror(in);
    const int reason = errno;
    fclose(in);
    if (failed)
        return cw_error_set(err, CW_ERR_IO, "%s: cannot read: %s", file->path, strerror(reason));
    return read_names(file, text, size, arena, err);
}

/* Lists the files, without reading their heads; the file named `first` (or NULL) comes before the others. */
static enum cw_status list_files(struct cw_chip_file **out, size_t *count, const char *data, const char *first,
                                 struct cw_arena *arena, struct cw_error *err)
{
    char dir[CW_PATH_MAX];
    const char *const *names;
    CW_TRY(cw_data_list(data, "chips", &names, count, arena, err));
    CW_TRY(cw_data_dir(dir, data, err));
    struct cw_chip_file *files = cw_arena_alloc(arena, *count, sizeof *files);
    if (!files)
        return cw_error_nomem(err);
    for (size_t i = 0; i < *count; i++) {
        struct cw_chip_file file = {.path = cw_arena_printf(arena, "%s/chips/%s.yaml", dir, names[i])};
        if (!file.path)
            return cw_error_nomem(err);
        bool ahead = first && strcasecmp(first, names[i]) == 0;
        files[i] = ahead ? files[0] : file;
        files[0] = ahead ? file : files[0];
    }
    *out = files;
    return CW_OK;
}

enum cw_status cw_chip_files(const struct cw_chip_file **out, size_t *count, const char *data, struct cw_arena *arena,
                             struct cw_error *err)
{
    struct cw_chip_file *files = NULL;
    enum cw_status status = list_files(&files, count, data, NULL, arena, err);
    for (size_t i = 0; status == CW_OK && i < *count; i++)
        status = read_head(&files[i], arena, err);
    *out = files;
    return status;
}

/* ---- products --------------------------------------------------------------------------------------------------- */

/* Number of words of the product's name if `name` begins with all of them, else 0. */
static size_t words_in_common(const char *name, const char *product)
{
    size_t words = 0;
    for (struct cw_word word = cw_word_next(&product); word.length; word = cw_word_next(&product)) {
        if (!cw_word_same(word, cw_word_next(&name)))
            return 0;
        words++;
    }
    return words;
}

static const char *without_brands(const char *name, const struct cw_yaml *brands)
{
    for (size_t i = 0; i < brands->count; i++) {
        const char *behind = name, *brand = brands->items[i].text;
        const struct cw_word word = cw_word_next(&behind);
        if (brand && word.length && cw_word_same((struct cw_word){brand, strlen(brand)}, word)) {
            name = behind;
            i = SIZE_MAX; /* start again with the first product */
        }
    }
    return name;
}

static const char *chip_of(const char *name, const struct cw_yaml *products, struct cw_suggest *near)
{
    const char *chip = NULL;
    size_t most = 0;
    for (size_t i = 0; i < products->count; i++)
        for (size_t k = 0; products->items[i].kind == CW_YAML_SEQUENCE && k < products->items[i].count; k++) {
            const char *product = products->items[i].items[k].text;
            size_t words = product ? words_in_common(name, product) : 0;
            if (product)
                cw_suggest_offer(near, product);
            if (words > most) {
                most = words;
                chip = products->keys[i].text;
            }
        }
    return chip;
}

/* Reads products.yaml. A data folder may have none: *products is NULL then. */
static enum cw_status read_products(const struct cw_yaml **brands, const struct cw_yaml **products, const char *data,
                                    struct cw_arena *arena, struct cw_error *err)
{
    static const char *const keys[] = {"schema", "brands", "products", NULL};
    char path[CW_DATA_PATH_MAX];
    struct cw_bytes file = {0};
    *products = NULL;
    enum cw_status status = cw_data_path(path, data, "products", err);
    if (status != CW_OK || access(path, F_OK) != 0)
        return status;
    status = cw_file_read(&file, path, LARGEST_PRODUCTS, err);
    if (status != CW_OK)
        return status;
    struct cw_yaml_reader in = {.source = path, .arena = arena, .err = err};
    const struct cw_yaml *root = cw_yaml_load(&in, "products", keys, 1, file.data, file.size);
    cw_bytes_free(&file);
    *brands = cw_yaml_get(&in, root, "brands", true);
    *products = cw_yaml_get(&in, root, "products", true);
    cw_yaml_expect(&in, *brands, CW_YAML_SEQUENCE, "brands");
    cw_yaml_expect(&in, *products, CW_YAML_MAPPING, "products");
    return in.status;
}

/* Finds the chip of a product, or NULL. */
static enum cw_status find_product(const char **chip, const char *name, const char *data, struct cw_suggest *near,
                                   struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_yaml *brands, *products;
    *chip = NULL;
    CW_TRY(read_products(&brands, &products, data, arena, err));
    if (products)
        *chip = chip_of(without_brands(name, brands), products, near);
    return CW_OK;
}

enum cw_status cw_chip_products(const struct cw_chip_products **out, size_t *count, const char *data,
                                struct cw_arena *arena, struct cw_error *err)
{
    const struct cw_yaml *brands, *products;
    CW_TRY(read_products(&brands, &products, data, arena, err));
    *count = products ? products->count : 0;
    struct cw_chip_products *list = cw_arena_alloc(arena, *count, sizeof *list);
    for (size_t i = 0; list && i < *count; i++) {
        const struct cw_yaml *items = &products->items[i];
        const size_t most = items->kind == CW_YAML_SEQUENCE ? items->count : 0;
        const char **names = cw_arena_alloc(arena, most, sizeof(const char *));
        list[i] = (struct cw_chip_products){products->keys[i].text, 0, names};
        for (size_t k = 0; names && k < most; k++)
            if (items->items[k].text)
                names[list[i].count++] = items->items[k].text;
        if (most && !names)
            return cw_error_nomem(err);
    }
    *out = list;
    return list || !*count ? CW_OK : cw_error_nomem(err);
}

/* ---- finding ---------------------------------------------------------------------------------------------------- */

/* Finds the file that lists the name, or NULL in *path. Looks at the file of the same name first, which most chips
 * have. */
static enum cw_status find_file(const char **path, const char **spelling, const char *data, const char *name,
                                struct cw_suggest *near, struct cw_arena *arena, struct cw_error *err)
{
    struct cw_chip_file *files = NULL;
    size_t count;
    *path = NULL;
    CW_TRY(list_files(&files, &count, data, name, arena, err));
    for (size_t i = 0; i < count; i++) {
        CW_TRY(read_head(&files[i], arena, err));
        for (uint32_t k = 0; k < files[i].name_count; k++) {
            if (strcasecmp(files[i].names[k], name) == 0) {
                *path = files[i].path;
                *spelling = files[i].names[k];
                return CW_OK;
            }
            cw_suggest_offer(near, files[i].names[k]);
        }
    }
    return CW_OK;
}

enum cw_status cw_chip_file_find(const char **path, const char **spelling, const char *data, const char *name,
                                 struct cw_arena *arena, struct cw_error *err)
{
    struct cw_suggest near;
    char upper[64], text[256];
    const char *chip = NULL;
    size_t n = 0;
    for (; name[n] && n + 1 < sizeof upper; n++) /* chip names are in capital letters */
        upper[n] = (char)(name[n] >= 'a' && name[n] <= 'z' ? name[n] - 'a' + 'A' : name[n]);
    upper[n] = 0;
    cw_suggest_init(&near, upper);
    CW_TRY(find_file(path, spelling, data, name, &near, arena, err));
    if (!*path)
        CW_TRY(find_product(&chip, name, data, &near, arena, err));
    if (chip)
        CW_TRY(find_file(path, spelling, data, chip, &near, arena, err));
    if (*path)
        return CW_OK;
    return cw_error_set(err, CW_ERR_USAGE, "found no chip named '%.60s', counterworks chips lists them%s", name,
                        cw_suggest_text(&near, text, sizeof text));
}
