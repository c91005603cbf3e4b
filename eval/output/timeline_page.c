#define _GNU_SOURCE
#include "eval/output/timeline_page.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/apart.h"
#include "base/text.h"
#include "eval/output/terminal.h"

enum { NAME_LEAST = 16 };

/* The end of words is left out. */
static const char *shorten_words(const char *name, size_t room, char text[CW_SHORT_SIZE])
{
    cw_text_format(text, CW_SHORT_SIZE, "%s", name);
    if (!room || cw_text_columns(text) <= room)
        return text;
    strcpy(text + cw_text_head(text, room > 2 ? room - 2 : 0), "..");
    return text;
}

/* The end of a path tells more than its beginning. */
static const char *shorten_path(const char *name, size_t room, char text[CW_SHORT_SIZE])
{
    const size_t length = cw_text_format(text, CW_SHORT_SIZE, "%s", name);
    if (!room || cw_text_columns(text) <= room)
        return text;
    const size_t tail = cw_text_tail(text, room > 2 ? room - 2 : 0);
    memmove(text + 2, text + tail, length - tail + 1);
    return memcpy(text, "..", 2);
}

static const char *(*const shorteners[])(const char *name, size_t room, char text[CW_SHORT_SIZE]) = {
    [CW_NAMES_FUNCTIONS] = cw_shorten, [CW_NAMES_PATHS] = shorten_path, [CW_NAMES_WORDS] = shorten_words};

static void fill_row(struct cw_text_lines *l, uint32_t row)
{
    l->filled = 0;
    l->fill(l, row);
}

void cw_text_fill(struct cw_text_lines *l, uint32_t row, char name[CW_SHORT_SIZE])
{
    fill_row(l, row);
    memcpy(name, l->text, sizeof l->text);
    shorteners[l->names](name, (size_t)l->room, l->text);
    if (l->alike)
        cw_show_apart(name, l->alike[row], (size_t)l->room, l->text);
}

static struct cw_output_row fill_line(const struct cw_output_table *table, uint64_t i)
{
    struct cw_text_lines *l = table->content;
    char name[CW_SHORT_SIZE];
    cw_text_fill(l, (uint32_t)i, name);
    return (struct cw_output_row){.record = l};
}

void cw_text_find_alike(struct cw_text_lines *l)
{
    char **names = l->room ? calloc((size_t)l->rows + 1, sizeof *names) : NULL;
    bool good = names;
    for (uint32_t i = 0; good && i < l->rows; i++) {
        fill_row(l, i);
        good = (names[i] = strdup(l->text)) != NULL;
    }
    l->alike = good ? cw_find_alike((const char *const *)names, l->rows, (size_t)l->room, shorteners[l->names]) : NULL;
    for (uint32_t i = 0; names && i < l->rows; i++)
        free(names[i]);
    free(names);
}

static void put_rows(struct cw_text_lines *l)
{
    struct cw_output_column columns[CW_CELLS + 1];
    for (size_t k = 0; k < l->count; k++)
        columns[k] = (struct cw_output_column){.name = l->columns[k],
                                               .type = CW_CELL_CHARS,
                                               .formats = CW_TO_TERMINAL,
                                               .offset = offsetof(struct cw_text_lines, cells) + k * CW_CELL_SIZE,
                                               .right = true};
    columns[l->count] = (struct cw_output_column){.name = l->name,
                                                  .type = CW_CELL_CHARS,
                                                  .formats = CW_TO_TERMINAL,
                                                  .offset = offsetof(struct cw_text_lines, text)};
    const struct cw_output_table table = {.columns = columns,
                                          .column_count = l->count + 1,
                                          .record_size = sizeof *l,
                                          .row_count = l->rows,
                                          .row = fill_line,
                                          .content = l};
    l->room = NAME_LEAST;
    const int room = cw_terminal_room(&table, l->page->style->width);
    l->room = !l->page->style->width || l->page->o->wide ? 0 : room > NAME_LEAST ? room : NAME_LEAST;
    cw_text_find_alike(l);
    cw_terminal_print(&table, 0, l->page->out);
    free(l->alike);
    l->alike = NULL;
}

void cw_text_put_lines(const struct cw_text_page *p, const char *title, struct cw_text_lines *l)
{
    l->page = p;
    if (title) {
        putc('\n', p->out);
        cw_terminal_title(title, p->style, p->out);
        putc('\n', p->out);
    }
    if (!l->rows) {
        fputs("  no rows\n", p->out);
        return;
    }
    put_rows(l);
    if (*l->left)
        fprintf(p->out, "  %s\n", l->left);
    if (*l->note)
        fprintf(p->out, "  %s\n", l->note);
}

void cw_cell_put(struct cw_text_lines *l, const char *text, double value)
{
    snprintf(l->cells[l->filled], CW_CELL_SIZE, "%.*s", CW_CELL_SIZE - 1, text);
    l->values[l->filled++] = value;
}

void cw_cell_time(struct cw_text_lines *l, double ns)
{
    char text[CW_TIME_TEXT_SIZE];
    cw_cell_put(l, cw_terminal_time(ns, text), ns);
}

void cw_cell_percent(struct cw_text_lines *l, double part)
{
    char text[CW_PERCENT_SIZE];
    cw_cell_put(l, cw_terminal_percent(part, text), part);
}

void cw_cell_count(struct cw_text_lines *l, uint64_t count)
{
    char text[CW_NUMBER_SIZE];
    cw_cell_put(l, cw_terminal_integer(count, text), (double)count);
}

void cw_cell_amount(struct cw_text_lines *l, double value, const char *unit)
{
    char text[CW_TIME_TEXT_SIZE];
    cw_cell_put(l, cw_terminal_amount(value, unit, text), value);
}

void cw_cell_none(struct cw_text_lines *l)
{
    cw_cell_put(l, "-", NAN);
}

double cw_part_of(double some, double all)
{
    return all > 0 ? some / all : NAN;
}

void cw_text_device_name(const struct cw_text_page *p, uint32_t device, char *text, size_t size)
{
    const struct cw_counter_data *data = p->t->data;
    const char *name = device == CW_NO_TRACE_DEVICE ? NULL : cw_device_attribute(&data->devices[device], "name");
    if (device == CW_NO_TRACE_DEVICE)
        snprintf(text, size, "(no device)");
    else
        snprintf(text, size, "%" PRIu32 "%s%s", data->devices[device].index, name ? " " : "", name ? name : "");
}
