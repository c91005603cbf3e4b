/* YAML documents as trees that remember where everything stood. The one user of libyaml.
 *
 * Accepted is the part of YAML that data files need: one document of mappings, sequences and scalars, in UTF-8.
 * Anchors, aliases, tags and directives are errors, so are repeated keys, nesting deeper than 24, and more values than
 * 65536 and one for each 12 bytes. Nodes live in the caller's arena. */
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
    unsigned text_column;     /* scalar: where the text begins if its characters stand there one for one, else 0 */
    const char *text;         /* scalar */
    size_t count;             /* sequence: items; mapping: entries */
    struct cw_yaml *items;    /* sequence: items; mapping: values */
    struct cw_yaml_key *keys; /* mapping: one for each value */
};

struct cw_yaml_key {
    const char *text;
    unsigned line, column;
    uint32_t nth; /* in the order of all texts: which key of the mapping comes at the place of this one */
};

/* Parses `size` bytes. `source` is for messages and must live as long as the tree. */
enum cw_status cw_yaml_parse(struct cw_yaml **root, const void *data, size_t size, const char *source,
                             struct cw_arena *arena, struct cw_error *err);

/* What a reader of trees needs: where it is and whether it has failed. All helpers below do nothing more after the
 * first failure and then yield zero, "" or NULL. */
struct cw_yaml_reader {
    const char *source;
    struct cw_arena *arena;
    struct cw_error *err;
    enum cw_status status;
    size_t size, spent; /* bytes of the file, and see cw_yaml_spend */
};

enum cw_status cw_yaml_fail(struct cw_yaml_reader *reader, const struct cw_yaml *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Fails at a column of a node's text: in the file, where the text stands there as it is. */
void cw_yaml_fail_inside(struct cw_yaml_reader *reader, const struct cw_yaml *node, unsigned column,
                         const char *message);
/* Parses a file of `size` bytes; NULL after a failure. It is a mapping of no keys but those of the NULL-terminated
 * list, by the rules of `version` ("schema: 1"). `what` names it in messages: "a chip file". */
const struct cw_yaml *cw_yaml_load(struct cw_yaml_reader *reader, const char *what, const char *const *keys,
                                   int version, const void *data, size_t size);
/* Counts the bytes of memory, or the steps, that a node asks for beyond its own text: a name that stands for many
 * things. Fails where a file asks for more than 16 MB and 16 for each byte of its size. */
void cw_yaml_spend(struct cw_yaml_reader *reader, const struct cw_yaml *node, size_t bytes);
/* Zeroed room in the arena; NULL after a failure, of which being out of memory is one. */
void *cw_yaml_array(struct cw_yaml_reader *reader, size_t count, size_t size);
/* `what` names the thing in messages: "a counter". */
bool cw_yaml_expect(struct cw_yaml_reader *reader, const struct cw_yaml *node, enum cw_yaml_kind kind,
                    const char *what);
/* Which entry of a mapping has the key, or SIZE_MAX. Takes a time that grows with the logarithm of their number. */
size_t cw_yaml_find(const struct cw_yaml *mapping, const char *key);
/* The i-th key of a mapping as a scalar. */
struct cw_yaml cw_yaml_key(const struct cw_yaml *mapping, size_t i);
/* The value of a key; NULL when absent, which is an error if `required`. */
const struct cw_yaml *cw_yaml_get(struct cw_yaml_reader *reader, const struct cw_yaml *mapping, const char *key,
                                  bool required);
/* Fails on anything but a mapping, and on a key that is not in the NULL-terminated list. */
void cw_yaml_only(struct cw_yaml_reader *reader, const struct cw_yaml *mapping, const char *const *allowed);
const char *cw_yaml_text(struct cw_yaml_reader *reader, const struct cw_yaml *node);
/* A name that is written back as it is read: letters, digits and _ . - * / %, the first a letter or digit, at most
 * CW_YAML_NAME_MAX characters. The last is for the i-th key of a mapping. */
bool cw_yaml_is_name(const char *text);
const char *cw_yaml_name(struct cw_yaml_reader *reader, const struct cw_yaml *node);
const char *cw_yaml_key_name(struct cw_yaml_reader *reader, const struct cw_yaml *mapping, size_t i);
/* Fails where two of the scalars have one text; `what` they are: "metric". Sorts them. */
void cw_yaml_unique(struct cw_yaml_reader *reader, const struct cw_yaml **scalars, size_t count, const char *what);
double cw_yaml_number(struct cw_yaml_reader *reader, const struct cw_yaml *node);
/* Decimal or 0x hexadecimal, at most `most`. */
uint64_t cw_yaml_integer(struct cw_yaml_reader *reader, const struct cw_yaml *node, uint64_t most);
/* Fails where the file's rules ("schema: 1") are not those of `version`. */
void cw_yaml_schema(struct cw_yaml_reader *reader, const struct cw_yaml *root, int version);

#endif
