/* Source lines of instructions, from the line tables of CUDA modules (ELF images with DWARF, as nvcc -lineinfo makes
 * them). Modules come from files and are not trusted. */
#ifndef CW_EVAL_SAMPLES_LINES_H
#define CW_EVAL_SAMPLES_LINES_H

#include "base/arena.h"
#include "base/error.h"

struct cw_lines;

/* Lines of the source, or of the PTX that a module was made from (nvcc -lineinfo keeps both). PTX is in no file. */
enum cw_lines_of { CW_LINES_SOURCE, CW_LINES_PTX };

/* Reads the line tables of a module. A module without tables, or with senseless ones, yields NULL, which knows no line.
 * CW_ERR_UNSUPPORTED if they are compressed, CW_ERR_NOMEM. The library that reads them has no bounds: read untrusted
 * modules by eval/samples/confined.h. Ends the process with CW_ERR_NOMEM if the library finds no memory. */
enum cw_status cw_lines_read(const struct cw_lines **lines, enum cw_lines_of of, const void *code, size_t size,
                             struct cw_arena *arena);

struct cw_line {
    const char *file; /* lives as long as the lines */
    uint32_t number;  /* of the file, below cw_lines_file_count */
    uint32_t line;
};
uint32_t cw_lines_file_count(const struct cw_lines *lines);

/* How many lines the PTX has, and their texts, from 1 on; "" for any other line. */
uint32_t cw_lines_text_count(const struct cw_lines *lines);
const char *cw_lines_text(const struct cw_lines *lines, uint32_t line);

/* The instruction at `pc` bytes from the start of a function; false if its line is not known. */
bool cw_lines_find(const struct cw_lines *lines, const char *function, uint64_t pc, struct cw_line *found);

#endif
