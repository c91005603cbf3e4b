/* Parses YAML documents into trees with positions. The only user of libyaml.
 *
 * Accepts the part of YAML that data files need: one document of mappings, sequences and scalars, in UTF-8. Refuses
 * anchors, aliases, tags, directives, repeated keys, nesting deeper than 24, and more than 65536 values plus one for
 * each 12 bytes. Nodes live in the caller's arena. */
#ifndef CW_METRICDB_YAML_H
#define CW_METRICDB_YAML_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum { CW_YAML_NAME_MAX = 200 };
enum cw_yaml_kind { CW_YAML_SCALAR, CW_YAML_SEQUENCE, CW_YAML_MAPPING };

struct cw_yaml {
    enum cw_yaml_kind kind;
    unsigned line, column;    /* 1-based */
    unsigned text_column;     /* scalar: column of the text if the file has its characters unchanged, else 0 */
    const char *text;         /* scalar */
    size_t count;             /* sequence: items; mapping: entries */
    struct cw_yaml *items;    /* sequence: items; mapping: values */
    struct cw_yaml_key *keys; /* mapping: one for each value */
};

struct cw_yaml_key {
    const char *text;
    unsigned line, column;
    uint32_t nth; /* keys[i].nth: index of the i-th key in alphabetical order */
};

/* Parses `size` bytes. `source` is for messages and must live as long as the tree. */
enum cw_status cw_yaml_parse(struct cw_yaml **root, const void *data, size_t size, const char *source,
                             struct cw_arena *arena, struct cw_error *err);

/* State of reading a tree: position and failure. After the first failure all helpers below do nothing and return zero,
 * "" or NULL. */
struct cw_yaml_reader {
    const char *source;
    struct cw_arena *arena;
    struct cw_error *err;
    enum cw_status status;
    size_t size, spent; /* bytes of the file, and of cw_yaml_spend */
};

enum cw_status cw_yaml_fail(struct cw_yaml_reader *reader, const struct cw_yaml *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fails at a column of a node's text: in the file, if the file has the text unchanged. */
void cw_yaml_fail_inside(struct cw_yaml_reader *reader, const struct cw_yaml *node, unsigned column,
                         const char *message);
/* Parses a file of `size` bytes; NULL after a failure. Accepts a mapping with the keys of the NULL-terminated list
 * only, and with "schema: 1" if `version` is 1. `what` names the file in messages: "a chip file". */
const struct cw_yaml *cw_yaml_load(struct cw_yaml_reader *reader, const char *what, const char *const *keys,
                                   int version, const void *data, size_t size);
/* Charges bytes of memory, or steps, that a node causes beyond its own text: a name that stands for many things. Fails
 * if a file exceeds 16 MB plus 16 for each byte of its size. */
void cw_yaml_spend(struct cw_yaml_reader *reader, const struct cw_yaml *node, size_t bytes);
/* Allocates zeroed room in the arena; NULL after a failure, and when out of memory, which is a failure. */
void *cw_yaml_array(struct cw_yaml_reader *reader, size_t count, size_t size);
/* Checks the kind of a node. `what` names the thing in messages: "a counter". */
bool cw_yaml_expect(struct cw_yaml_reader *reader, const struct cw_yaml *node, enum cw_yaml_kind kind,
                    const char *what);
/* Index of the entry with the key, or SIZE_MAX. Takes logarithmic time. */
size_t cw_yaml_find(const struct cw_yaml *mapping, const char *key);
/* The i-th key of a mapping as a scalar. */
struct cw_yaml cw_yaml_key(const struct cw_yaml *mapping, size_t i);
/* The value of a key; NULL when absent, which is an error if `required`. */
const struct cw_yaml *cw_yaml_get(struct cw_yaml_reader *reader, const struct cw_yaml *mapping, const char *key,
                                  bool required);
/* Fails on anything but a mapping, and on a key that is not in the NULL-terminated list. */
void cw_yaml_only(struct cw_yaml_reader *reader, const struct cw_yaml *mapping, const char *const *allowed);
const char *cw_yaml_text(struct cw_yaml_reader *reader, const struct cw_yaml *node);
/* A name that can be written back unchanged: letters, digits and _ . - * / %, the first a letter or digit, at most
 * CW_YAML_NAME_MAX characters. cw_yaml_key_name reads the i-th key of a mapping. */
bool cw_yaml_is_name(const char *text);
const char *cw_yaml_name(struct cw_yaml_reader *reader, const struct cw_yaml *node);
const char *cw_yaml_key_name(struct cw_yaml_reader *reader, const struct cw_yaml *mapping, size_t i);
/* Fails if two of the scalars have the same text; `what` names the thing: "metric". Sorts them. */
void cw_yaml_unique(struct cw_yaml_reader *reader, const struct cw_yaml **scalars, size_t count, const char *what);
double cw_yaml_number(struct cw_yaml_reader *reader, const struct cw_yaml *node);
/* Reads a decimal or 0x hexadecimal number, at most `most`. */
uint64_t cw_yaml_integer(struct cw_yaml_reader *reader, const struct cw_yaml *node, uint64_t most);
/* Fails unless the file's "schema" is `version`. */
void cw_yaml_schema(struct cw_yaml_reader *reader, const struct cw_yaml *root, int version);

#endif
