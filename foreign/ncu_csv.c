#define _GNU_SOURCE
#include "foreign/ncu_csv.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hash_table.h"
#include "base/utf8.h"
#include "foreign/chip.h"
#include "image/counter_data.h"
#include "image/data_chunks.h"
#include "metricdb/chip_load.h"
#include "metricdb/fact.h"
#include "metricdb/metric.h"

#define DISPLAY_NAME "device__attribute_display_name"
#define TIME "gpu__time_duration.sum"

enum { MOST_DEVICES = 256, MOST_COLUMNS = 65536 };

/* Columns that describe a launch or, in a line for each value, a metric. */
enum head { ID, PROCESS, KERNEL, CONTEXT, STREAM, BLOCK, GRID, DEVICE, CAPABILITY, METRIC, UNIT, VALUE, HEADS };
static const char *const heads[HEADS] = {"ID",     "Process ID",  "Kernel Name", "Context",
                                         "Stream", "Block Size",  "Grid Size",   "Device",
                                         "CC",     "Metric Name", "Metric Unit", "Metric Value"};

enum use { LEFT_OUT, COUNTER, FACT, DEVICE_FACT, DEVICE_NAME };

struct metric {
    const char *name;
    enum use use;
    uint32_t index; /* of the counter, or of the fact in the schema; of a device's fact its own number */
};

struct column { /* of a line for each launch */
    const struct metric *metric;
    double scale; /* from its unit to ours */
};

struct text {
    const char *at;
    size_t size;
};

struct device {
    uint32_t number, count;
    const char *chip;
    struct cw_pair pairs[64];
    bool written;
};

struct table {
    struct cw_input *input;
    struct cw_error *err;
    struct cw_arena *arena;
    const char *at, *end; /* of what is left */
    const char *row_at;   /* where the cells begin */
    uint32_t line, row;   /* row: the line of that */
    struct text head;     /* the line of heads */
    bool headed;          /* it stands again before the line at hand */
    char *text;           /* the cells of a line, each with a NUL */
    const char **cells;   /* of the line */
    size_t cell_count, cell_room;
    size_t column[HEADS], column_count; /* SIZE_MAX: there is none */
    size_t product;                     /* the column of its name; SIZE_MAX: there is none */
    bool is_long;                       /* a line for each value */
    struct column *columns;
    struct metric *metrics; /* each name once */
    size_t metric_count, metric_room;
    struct cw_hash_table names;
    const struct cw_chip *chip;                         /* of all launches */
    const char *chip_file, *capabilities[MOST_DEVICES]; /* its file, and how CC spells it */
    uint32_t capability_count;
    struct cw_schema schema;
    struct cw_spool spool;
    /* the launch at hand */
    struct cw_range range;
    struct cw_value *values;
    double *facts, duration;
    char *id;
    bool open;
    struct device devices[MOST_DEVICES];
    uint32_t device_count;
    uint64_t ranges;
};

bool cw_ncu_begins(const void *head, size_t size)
{
    static const char first[] = "\"ID\",\"Process ID\",";
    const char *at = memmem(head, size, first, sizeof first - 1);
    return at && (at == (const char *)head + cw_utf8_mark(head, size) || at[-1] == '\n');
}

/* ---- lines and cells -------------------------------------------------------------------------------------------- */

/* Takes a quoted cell, in which two quotes stand for one. Returns what is behind it; NULL without a closing quote. */
static const char *take_cell(const char *from, const char *end, char **to)
{
    for (from++; from < end; from++)
        if (*from == '"' && (from + 1 == end || from[1] != '"')) {
            *(*to)++ = 0;
            return from + 1;
        } else if (*from) {
            *(*to)++ = *from;
            from += *from == '"';
        }
    return NULL;
}

static enum cw_status fail(const struct table *t, const char *found, const char *expected)
{
    return cw_error_at(t->err, CW_ERR_INPUT, t->input->name, t->line, 1, "found %s, expected %s", found, expected);
}

static enum cw_status add_cell(struct table *t, const char *cell)
{
    const char **grown = cw_grown(t->cells, &t->cell_room, t->cell_count, sizeof *grown);
    if (!grown)
        return cw_error_nomem(t->err);
    t->cells = grown;
    t->cells[t->cell_count++] = cell;
    return t->cell_count <= MOST_COLUMNS ? CW_OK : fail(t, "more than 65536 columns", "no more");
}

/* Takes a cell without quotes. Returns what is behind it. */
static const char *take_bare(const char *from, const char *end, char **to)
{
    for (; from < end && *from != ',' && *from != '\n'; from++)
        if (*from && *from != '\r')
            *(*to)++ = *from;
    *(*to)++ = 0;
    return from;
}

/* Takes the cells of the next line that begins with a quote. `own`: it is the program's, with other text behind a cell.
 */
static enum cw_status take_cells(struct table *t, bool *own)
{
    char *to = t->text;
    t->cell_count = 0;
    for (; t->at < t->end && *t->at != '"'; t->line++) {
        const char *newline = memchr(t->at, '\n', (size_t)(t->end - t->at));
        t->at = newline ? newline + 1 : t->end;
    }
    const char *at = t->row_at = t->at;
    t->row = t->line;
    for (bool more = true; more && at < t->end;) {
        char *cell = to;
        at = *at == '"' ? take_cell(at, t->end, &to) : take_bare(at, t->end, &to);
        if (!at)
            return fail(t, "a cell without a closing quote", "\"...\"");
        cw_utf8_force(cell, strlen(cell));
        CW_TRY(add_cell(t, cell));
        more = at < t->end && *at == ',';
        at += more;
    }
    *own = at < t->end && *at != '\n' && *at != '\r';
    at = *own ? t->row_at : at; /* its quote may end in the next line */
    while (at < t->end && *at != '\n')
        at++;
    for (const char *c = t->at; c < at; c++)
        t->line += *c == '\n';
    t->line += at < t->end;
    t->at = at < t->end ? at + 1 : at;
    return CW_OK;
}

/* Takes the next line of cells: ncu quotes all of them, and who writes them anew the first, so that other lines are the
 * program's. No cells: the end. */
static enum cw_status take_line(struct table *t)
{
    bool own = false;
    do
        CW_TRY(take_cells(t, &own));
    while (own);
    return CW_OK;
}

static const char *cell(const struct table *t, size_t column)
{
    return column < t->cell_count ? t->cells[column] : "";
}

static const char *head_cell(const struct table *t, enum head head)
{
    return cell(t, t->column[head]);
}

/* ---- numbers and units ------------------------------------------------------------------------------------------ */

static size_t digits_at(const char *text)
{
    return strspn(text, "0123456789");
}

/* Copies digits without the commas between groups of three. Returns what is behind them; NULL for other commas. */
static const char *take_groups(const char *text, char **to)
{
    size_t count = digits_at(text);
    const bool grouped = text[count] == ',';
    if (!count || (grouped && (count > 3 || *text == '0')))
        return NULL;
    memcpy(*to, text, count);
    *to += count;
    for (text += count; *text == ','; text += count + 1, *to += count)
        if ((count = digits_at(text + 1)) == 3)
            memcpy(*to, text + 1, count);
        else
            return NULL;
    return text;
}

/* Takes "1,234.5", or "1.5e+19"; instances of a metric may follow in brackets. NULL for any other text. */
static const char *take_number(const char *text, char *to)
{
    text = take_groups(text, &to);
    if (text && *text == '.' && digits_at(text + 1)) {
        const size_t count = 1 + digits_at(text + 1);
        memcpy(to, text, count);
        to += count;
        text += count;
    }
    if (text && (*text == 'e' || *text == 'E')) {
        const size_t sign = text[1] == '-' || text[1] == '+', count = digits_at(text + 1 + sign);
        memcpy(to, text, 1 + sign + count);
        to += 1 + sign + count;
        text += count ? 1 + sign + count : 0;
    }
    if (!text)
        return NULL;
    *to = 0;
    const char *behind = text + strspn(text, " ");
    return *behind && (*behind != '(' || behind == text) ? NULL : text;
}

/* Reads a number as ncu writes it in the locale "C"; NaN for texts such as "n/a". False for a number in another form:
 * "1.234,5" and "1 234,5" are of other locales. */
static bool read_number(const char *text, double *value)
{
    char plain[512] = "";
    const char *begin = text + (*text == '-' || *text == '+'), *end;
    const bool numeric = digits_at(begin + (*begin == ',' || *begin == '.')) != 0;
    *value = NAN;
    if (!numeric)
        return true;
    end = strcspn(begin, " ") < sizeof plain ? take_number(begin, plain) : NULL;
    *value = end ? strtod(plain, NULL) : NAN;
    *value = isfinite(*value) ? *text == '-' ? -*value : *value : NAN;
    return end != NULL;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(text, word, length) == 0;
}

/* The number that a prefix of a unit stands for: 10^9 in Gbyte, GB and GHz, 2^30 in GiB; 1 without one. */
static double prefix_of(const char *word, size_t length)
{
    static const char prefixes[] = "KMGTPE";
    static const char *const units[] = {"byte", "B", "bit", "b", "hz", "Hz", "inst", "FLOP", "flop"};
    const char *prefix = length > 1 ? memchr(prefixes, *word == 'k' ? 'K' : *word, sizeof prefixes - 1) : NULL;
    const double power = prefix ? (double)(prefix - prefixes + 1) : 0;
    for (size_t i = 0; prefix && i < sizeof units / sizeof *units; i++)
        if (is_word(word + 1, length - 1, units[i]))
            return pow(1000, power);
        else if (word[1] == 'i' && is_word(word + 2, length - 2, units[i]))
            return pow(1024, power);
    return prefix && strchr("KMGT", *word) && islower((unsigned char)word[1]) ? pow(1000, power) : 1;
}

/* The ns of a unit of time; 0 for another. */
static double ns_of(const char *word, size_t length)
{
    static const struct {
        const char *name;
        double ns;
    } times[] = {{"ns", 1},  {"nsecond", 1},  {"us", 1e3},      {"usecond", 1e3}, {"ms", 1e6},     {"msecond", 1e6},
                 {"s", 1e9}, {"second", 1e9}, {"minute", 60e9}, {"hour", 3600e9}, {"day", 86400e9}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (is_word(word, length, times[i].name))
            return times[i].ns;
    return 0;
}

/* How many of our units one of `word` is: of time ns, or for `per` one over seconds. */
static double unit_word(const char *word, size_t length, bool per)
{
    const double ns = ns_of(word, length);
    if (ns)
        return per ? 1e9 / ns : ns;
    return per ? 1 / prefix_of(word, length) : prefix_of(word, length);
}

/* Takes the unit of a column. The time of a launch in an unknown unit would be wrong by a factor that nobody sees. */
static enum cw_status take_unit(struct table *t, struct column *c, const char *unit)
{
    const char *slash = strchr(unit, '/');
    const size_t length = slash ? (size_t)(slash - unit) : strlen(unit);
    if (*unit && c->metric && strcmp(c->metric->name, TIME) == 0 && !ns_of(unit, strlen(unit)))
        return cw_error_at(t->err, CW_ERR_INPUT, t->input->name, t->row, 1,
                           "found the unit '%.40s' of " TIME ", expected one such as ns, us, ms or s", unit);
    c->scale = unit_word(unit, length, false) * (slash ? unit_word(slash + 1, strlen(slash + 1), true) : 1);
    return CW_OK;
}

/* Takes "1024", or "1,024" in the groups of any locale. NULL without a digit. */
static const char *take_whole(const char *text, uint64_t *value)
{
    const char *begin = text;
    *value = 0;
    while (isdigit((unsigned char)*text) || (text > begin && *text && strchr(".,'", *text) && digits_at(text + 1) == 3))
        if (isdigit((unsigned char)*text++))
            *value = *value < UINT64_MAX / 16 ? 10 * *value + (uint64_t)(text[-1] - '0') : UINT64_MAX;
    return text > begin ? text : NULL;
}

/* 0 for other texts. */
static uint64_t whole(const char *text)
{
    uint64_t value;
    const char *end = take_whole(text, &value);
    return end && !*end && value <= UINT64_C(1) << 53 ? value : 0;
}

/* "(256, 1, 1)", or one number; 0 for other texts. */
static void read_sizes(uint32_t size[3], const char *text)
{
    static const char behind[] = ",,)";
    uint64_t read[3] = {whole(text), 1, 1};
    const char *at = *text == '(' ? text + 1 : NULL;
    for (int i = 0; i < 3 && at; i++) {
        at = take_whole(at + strspn(at, " "), &read[i]);
        at = at && *at == behind[i] ? at + 1 : NULL;
    }
    for (int i = 0; i < 3; i++)
        size[i] = (at || *text != '(') && read[i] <= UINT32_MAX ? (uint32_t)read[i] : 0;
}

/* ---- the first reading: names ------------------------------------------------------------------------------------ */

static bool is_name(const void *table, uint32_t item, const void *key)
{
    return strcmp(((const struct table *)table)->metrics[item].name, key) == 0;
}

/* Returns the metric of this name; new ones have no use yet. NULL when out of memory. */
static struct metric *metric_of(struct table *t, const char *name, bool *is_new)
{
    const uint32_t item = cw_hash_table_add(&t->names, XXH3_64bits(name, strlen(name)), is_name, t, name);
    *is_new = item != CW_NO_ITEM && item == t->metric_count;
    if (item == CW_NO_ITEM || !*is_new)
        return item == CW_NO_ITEM ? NULL : &t->metrics[item];
    struct metric *grown = cw_grown(t->metrics, &t->metric_room, item, sizeof *grown);
    const char *copy = cw_arena_strdup(t->arena, name);
    t->metrics = grown ? grown : t->metrics;
    if (!grown || !copy)
        return NULL;
    t->metrics[t->metric_count++] = (struct metric){.name = copy};
    return &t->metrics[item];
}

/* The text of the line at hand, without its end. */
static struct text row_text(const struct table *t)
{
    size_t size = (size_t)(t->at - t->row_at);
    while (size && (t->row_at[size - 1] == '\n' || t->row_at[size - 1] == '\r'))
        size--;
    return (struct text){t->row_at, size};
}

/* Takes the next line of values. Files one behind another, as each process under mpirun writes one, repeat the heads.
 */
static enum cw_status take_values(struct table *t)
{
    CW_TRY(take_line(t));
    for (t->headed = false; t->cell_count && strcmp(head_cell(t, ID), heads[ID]) == 0; t->headed = true) {
        const struct text again = row_text(t);
        if (again.size != t->head.size || memcmp(again.at, t->head.at, again.size) != 0)
            return cw_error_at(t->err, CW_ERR_INPUT, t->input->name, t->row, 1,
                               "found heads other than the first, expected a file for each");
        CW_TRY(take_line(t));
    }
    return CW_OK;
}

static enum cw_status find_heads(struct table *t)
{
    for (int h = 0; h < HEADS; h++) {
        t->column[h] = SIZE_MAX;
        for (size_t i = t->cell_count; i--;)
            if (strcmp(t->cells[i], heads[h]) == 0)
                t->column[h] = i;
    }
    t->column_count = t->cell_count;
    t->is_long = t->column[METRIC] != SIZE_MAX && t->column[VALUE] != SIZE_MAX;
    return t->column[CAPABILITY] != SIZE_MAX
               ? CW_OK
               : fail(t, "no column \"CC\"", "the compute capability of each launch, as ncu prints since 2022");
}

static enum cw_status begin(struct table *t)
{
    const size_t size = (size_t)t->input->size;
    t->at = (const char *)t->input->bytes + cw_utf8_mark(t->input->bytes, size);
    t->end = (const char *)t->input->bytes + size;
    t->line = 1;
    do {
        CW_TRY(take_line(t));
        if (!t->cell_count)
            return fail(t, "no line of heads", "\"ID\",\"Process ID\",...");
    } while (strcmp(t->cells[0], heads[ID]) != 0);
    t->head = row_text(t);
    return CW_OK;
}

/* Finds the chip by the name of its product, else by the compute capability: "9.0" is sm_90. */
static enum cw_status find_chip(const struct table *t, const char **file, const char **chip)
{
    const char *product = cell(t, t->product), *capability = head_cell(t, CAPABILITY), *dot = strchr(capability, '.');
    char name[64];
    snprintf(name, sizeof name, "sm_%.*s%.16s", dot ? (int)(dot - capability) % 16 : 16, capability,
             dot ? dot + 1 : "");
    const enum cw_status status = cw_foreign_chip(file, chip, product, name, t->arena, t->err);
    if (status != CW_ERR_USAGE)
        return status;
    return cw_error_at(t->err, CW_ERR_UNSUPPORTED, t->input->name, t->row, 1,
                       "found the compute capability '%.16s', expected one of a chip in the database", capability);
}

/* Whether the compute capability is one that the chip was found by. */
static bool has_capability(const struct table *t)
{
    for (uint32_t i = 0; i < t->capability_count; i++)
        if (strcmp(t->capabilities[i], head_cell(t, CAPABILITY)) == 0)
            return true;
    return false;
}

static enum cw_status add_capability(struct table *t)
{
    if (has_capability(t))
        return CW_OK;
    if (t->capability_count == MOST_DEVICES)
        return fail(t, "more than 256 spellings of compute capabilities", "no more");
    const char *added = t->capabilities[t->capability_count++] = cw_arena_strdup(t->arena, head_cell(t, CAPABILITY));
    return added ? CW_OK : cw_error_nomem(t->err);
}

static enum cw_status load_chip(struct table *t)
{
    const char *chip;
    CW_TRY(find_chip(t, &t->chip_file, &chip));
    CW_TRY(add_capability(t));
    return cw_chip_load(&t->chip, NULL, chip, t->arena, t->err);
}

static enum cw_status collect_names(struct table *t)
{
    bool is_new;
    t->product = SIZE_MAX;
    CW_TRY(begin(t));
    CW_TRY(find_heads(t));
    for (size_t i = 0; i < t->cell_count && !t->is_long; i++) {
        t->product = strcmp(t->cells[i], DISPLAY_NAME) == 0 ? i : t->product;
        if (!metric_of(t, t->cells[i], &is_new))
            return cw_error_nomem(t->err);
    }
    do {
        CW_TRY(take_values(t));
        if (!t->chip && *head_cell(t, ID))
            CW_TRY(load_chip(t));
        if (t->is_long && t->cell_count && !metric_of(t, head_cell(t, METRIC), &is_new))
            return cw_error_nomem(t->err);
    } while (t->cell_count);
    return t->chip ? CW_OK : fail(t, "no launch", "lines of values");
}

/* ---- the schema ------------------------------------------------------------------------------------------------- */

static void choose_use(struct table *t, struct metric *m, struct cw_schema_counter *counters, const char **facts,
                       uint32_t *left_out)
{
    static const uint32_t pass = 0;
    struct cw_metric parsed;
    const uint32_t fact = cw_fact_find(m->name);
    const enum cw_fact_source source = fact != CW_NONE ? cw_fact(fact)->source : CW_FACT_OF_RANGE;
    if (strcmp(m->name, DISPLAY_NAME) == 0) {
        m->use = DEVICE_NAME;
    } else if (fact != CW_NONE && source == CW_FACT_OF_DEVICE) {
        *m = (struct metric){m->name, DEVICE_FACT, fact};
    } else if (fact != CW_NONE && source == CW_FACT_OF_LAUNCH) {
        facts[t->schema.fact_count] = m->name;
        *m = (struct metric){m->name, FACT, t->schema.fact_count++};
    } else if (fact == CW_NONE && cw_metric_parse(&parsed, t->chip, m->name, NULL) == CW_OK) {
        counters[t->schema.counter_count] = (struct cw_schema_counter){m->name, true, 1, &pass};
        *m = (struct metric){m->name, COUNTER, t->schema.counter_count++};
    } else if (fact == CW_NONE && (t->is_long ? *m->name != 0 : strstr(m->name, "__") != NULL)) {
        ++*left_out; /* other columns describe the launch */
    }
}

/* The details page has words such as "Duration" in place of names of metrics, and may have rules without a name. */
static bool is_details_page(const struct table *t)
{
    bool has_words = false;
    for (size_t i = 0; i < t->metric_count; i++) {
        if (strstr(t->metrics[i].name, "__"))
            return false;
        has_words = has_words || *t->metrics[i].name;
    }
    return t->is_long && has_words;
}

static enum cw_status make_schema(struct table *t, uint32_t *left_out)
{
    struct cw_schema_counter *counters = cw_arena_alloc(t->arena, t->metric_count, sizeof *counters);
    const char **facts = cw_arena_alloc(t->arena, t->metric_count, sizeof *facts);
    const char **names = cw_arena_alloc(t->arena, t->metric_count, sizeof *names);
    if (!counters || !facts || !names)
        return cw_error_nomem(t->err);
    t->schema = (struct cw_schema){.chip = t->chip->name,
                                   .producer = "counterworks " CW_VERSION " from ncu",
                                   .profiler = CW_PROFILER_RANGE,
                                   .pass_count = 1,
                                   .counters = counters,
                                   .fact_names = facts,
                                   .metrics = names};
    memcpy(t->schema.database, t->chip->hash, sizeof t->schema.database);
    for (size_t i = 0; i < t->metric_count; i++)
        choose_use(t, &t->metrics[i], counters, facts, left_out);
    if (is_details_page(t))
        return cw_error_set(t->err, CW_ERR_INPUT, "%s: found NVIDIA's details page, expected --page raw",
                            t->input->name);
    for (uint32_t i = 0; i < t->schema.counter_count; i++)
        names[t->schema.metric_count++] = counters[i].name;
    t->values = cw_arena_alloc(t->arena, t->schema.counter_count, sizeof *t->values);
    t->facts = cw_arena_alloc(t->arena, t->schema.fact_count, sizeof *t->facts);
    return t->values && t->facts ? CW_OK : cw_error_nomem(t->err);
}

/* ---- the second reading: launches -------------------------------------------------------------------------------- */

static enum cw_status put(struct table *t, struct cw_writer *out)
{
    enum cw_status status =
        out->status == CW_OK ? cw_spool_put(&t->spool, out->data, out->size, t->err) : cw_error_nomem(t->err);
    cw_writer_free(out);
    return status;
}

static struct device *device_of(struct table *t, uint32_t number)
{
    for (uint32_t i = 0; i < t->device_count; i++)
        if (t->devices[i].number == number)
            return &t->devices[i];
    return NULL;
}

/* Describes the device of the launch at hand, before its first range. */
static enum cw_status write_device(struct table *t, struct device *about)
{
    struct cw_device device = {.index = t->range.device};
    struct cw_writer out;
    struct cw_device_facts *facts = calloc((size_t)t->schema.counter_count + 1, sizeof *facts);
    if (!facts)
        return cw_error_nomem(t->err);
    for (uint32_t i = 0; i < t->schema.counter_count; i++)
        facts[i] = (struct cw_device_facts){.peak = {NAN, NAN, NAN, NAN}};
    if (!cw_pair_find(about->pairs, about->count, "name"))
        about->pairs[about->count++] = (struct cw_pair){"name", "unknown"};
    about->pairs[about->count++] = (struct cw_pair){"chip", about->chip};
    about->pairs[about->count++] = (struct cw_pair){"backend", "ncu"};
    about->pairs[about->count++] = (struct cw_pair){"simulated", "no"};
    device.attribute_count = about->count;
    device.attributes = about->pairs;
    device.facts = facts;
    cw_writer_init(&out);
    cw_counter_data_write_device(&t->schema, &device, &out);
    free(facts);
    return put(t, &out);
}

static enum cw_status end_launch(struct table *t)
{
    struct cw_writer out;
    if (!t->open)
        return CW_OK;
    struct device *device = device_of(t, t->range.device);
    if (!device->written)
        CW_TRY(write_device(t, device));
    device->written = true;
    cw_writer_init(&out);
    cw_counter_data_write_range(&t->schema, &t->range, t->values, &out);
    t->open = false;
    t->ranges++;
    return put(t, &out);
}

static uint32_t process_of(const struct table *t)
{
    const uint64_t process = whole(head_cell(t, PROCESS));
    return process <= UINT32_MAX ? (uint32_t)process : 0;
}

/* Adds the device of the launch at hand, unless it is known. Refuses other metrics than those of the schema's chip. */
static enum cw_status add_device(struct table *t)
{
    const char *file = t->chip_file, *chip = NULL;
    const bool is_new = !device_of(t, t->range.device);
    if (is_new || !has_capability(t))
        CW_TRY(find_chip(t, &file, &chip));
    if (strcmp(file, t->chip_file) != 0)
        return cw_error_at(
            t->err, CW_ERR_UNSUPPORTED, t->input->name, t->row, 1,
            "found a launch on %s behind ones on %s, expected one chip: make a file of the lines of each "
            "chip",
            chip, t->chip->name);
    CW_TRY(add_capability(t));
    if (is_new && t->device_count == MOST_DEVICES)
        return fail(t, "more than 256 devices", "no more");
    if (is_new)
        t->devices[t->device_count++] = (struct device){.number = t->range.device, .chip = chip};
    return CW_OK;
}

static enum cw_status begin_launch(struct table *t)
{
    const uint64_t device = whole(head_cell(t, DEVICE));
    CW_TRY(end_launch(t));
    t->range = (struct cw_range){.device = device <= UINT32_MAX ? (uint32_t)device : 0,
                                 .process = process_of(t),
                                 .context = whole(head_cell(t, CONTEXT)),
                                 .stream = whole(head_cell(t, STREAM)),
                                 .durations = &t->duration,
                                 .facts = t->facts};
    t->range.name = t->range.kernel = cw_arena_strdup(t->arena, head_cell(t, KERNEL));
    free(t->id);
    t->id = strdup(head_cell(t, ID));
    if (!t->range.name || !t->id)
        return cw_error_nomem(t->err);
    read_sizes(t->range.block, head_cell(t, BLOCK));
    read_sizes(t->range.grid, head_cell(t, GRID));
    CW_TRY(add_device(t));
    t->duration = NAN;
    memset(t->values, 0, t->schema.counter_count * sizeof *t->values);
    for (uint32_t i = 0; i < t->schema.fact_count; i++)
        t->facts[i] = NAN;
    t->open = true;
    return CW_OK;
}

static enum cw_status put_attribute(struct table *t, const char *key, const char *value)
{
    struct device *d = device_of(t, t->range.device);
    if (d->count + 4 >= sizeof d->pairs / sizeof *d->pairs || cw_pair_find(d->pairs, d->count, key))
        return CW_OK;
    char *copy = cw_arena_strdup(t->arena, value);
    if (!copy)
        return cw_error_nomem(t->err);
    d->pairs[d->count++] = (struct cw_pair){key, copy};
    return CW_OK;
}

static enum cw_status put_value(struct table *t, const struct column *c, const char *text)
{
    const struct metric *m = c->metric;
    double value;
    char number[32];
    if (m->use == LEFT_OUT)
        return CW_OK;
    if (m->use == DEVICE_NAME)
        return put_attribute(t, "name", text);
    if (!read_number(text, &value))
        return cw_error_at(t->err, CW_ERR_INPUT, t->input->name, t->row, 1,
                           "found the number '%.40s' of %.100s, expected one such as 1,234.5: run ncu with LC_ALL=C",
                           text, m->name);
    if (isnan(value))
        return CW_OK;
    value *= c->scale;
    if (m->use == DEVICE_FACT) {
        snprintf(number, sizeof number, "%.0f", value);
        return put_attribute(t, cw_fact(m->index)->key, number);
    }
    if (m->use == FACT)
        t->facts[m->index] = value;
    if (m->use == COUNTER)
        t->values[m->index] = (struct cw_value){.form = CW_FORM_ONE, .rollup = {value, value, value, value}};
    if (m->use == COUNTER && strcmp(m->name, TIME) == 0)
        t->duration = value;
    return CW_OK;
}

static enum cw_status take_long(struct table *t)
{
    bool is_new;
    if (!t->open || t->headed || t->range.process != process_of(t) || strcmp(t->id, head_cell(t, ID)) != 0)
        CW_TRY(begin_launch(t));
    struct column column = {metric_of(t, head_cell(t, METRIC), &is_new), 1};
    if (!column.metric)
        return cw_error_nomem(t->err);
    CW_TRY(take_unit(t, &column, head_cell(t, UNIT)));
    return put_value(t, &column, head_cell(t, VALUE));
}

/* Takes a launch, or the line of units, which has no ID. */
static enum cw_status take_wide(struct table *t)
{
    const bool units = !*head_cell(t, ID);
    if (!units)
        CW_TRY(begin_launch(t));
    for (size_t i = 0; i < t->cell_count && i < t->column_count; i++)
        if (units)
            CW_TRY(take_unit(t, &t->columns[i], t->cells[i]));
        else
            CW_TRY(put_value(t, &t->columns[i], t->cells[i]));
    return CW_OK;
}

static enum cw_status bind_columns(struct table *t)
{
    bool is_new;
    t->columns = cw_arena_alloc(t->arena, t->column_count, sizeof *t->columns);
    if (!t->columns)
        return cw_error_nomem(t->err);
    for (size_t i = 0; i < t->column_count; i++)
        if (!(t->columns[i] = (struct column){metric_of(t, t->cells[i], &is_new), 1}).metric)
            return cw_error_nomem(t->err);
    return CW_OK;
}

/* A number such as 1,000 without quotes is two cells. */
static enum cw_status check_width(const struct table *t)
{
    for (size_t i = t->column_count; i < t->cell_count; i++)
        if (*t->cells[i])
            return cw_error_at(t->err, CW_ERR_INPUT, t->input->name, t->row, 1,
                               "found %zu cells, expected the %zu of the heads: quote cells that have commas",
                               t->cell_count, t->column_count);
    return CW_OK;
}

static enum cw_status take_launches(struct table *t)
{
    struct cw_writer out;
    CW_TRY(begin(t));
    if (!t->is_long)
        CW_TRY(bind_columns(t));
    cw_writer_init(&out);
    cw_schema_write_header(&t->schema, &out);
    cw_schema_write(&t->schema, &out);
    CW_TRY(put(t, &out));
    do {
        CW_TRY(take_values(t));
        CW_TRY(check_width(t));
        if (t->cell_count)
            CW_TRY(t->is_long ? take_long(t) : take_wide(t));
    } while (t->cell_count);
    CW_TRY(end_launch(t));
    cw_writer_init(&out);
    cw_counter_data_write_end(t->ranges, 0, CW_END_NO_PROGRAM, 0, &out);
    return put(t, &out);
}

static enum cw_status read_table(struct table *t, uint32_t *left_out)
{
    CW_TRY(cw_input_load(t->input, t->err));
    t->text = malloc((size_t)t->input->size + 1);
    if (!t->text)
        return cw_error_nomem(t->err);
    CW_TRY(collect_names(t));
    CW_TRY(make_schema(t, left_out));
    return take_launches(t);
}

enum cw_status cw_ncu_read(struct cw_input *made, char *notice, size_t size, struct cw_input *input,
                           struct cw_error *err)
{
    uint32_t left_out = 0;
    struct table *t = calloc(1, sizeof *t);
    if (!t)
        return cw_error_nomem(err);
    t->input = input;
    t->err = err;
    t->arena = cw_arena_create();
    const enum cw_status status = t->arena ? read_table(t, &left_out) : cw_error_nomem(err);
    if (status == CW_OK)
        *made = cw_spool_finish(&t->spool, input->name);
    if (status == CW_OK && left_out)
        snprintf(notice, size, "left out %" PRIu32 " of its metrics, which %s does not have", left_out, t->chip->name);
    cw_spool_free(&t->spool);
    cw_hash_table_free(&t->names);
    cw_arena_destroy(t->arena);
    free(t->metrics);
    free(t->cells);
    free(t->text);
    free(t->id);
    free(t);
    return status;
}
