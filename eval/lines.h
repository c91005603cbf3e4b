/* Where instructions come from: the line tables of CUDA modules (ELF images with DWARF, as nvcc -lineinfo makes them).
 * Modules come from files and are not trusted. */
#ifndef CW_EVAL_LINES_H
#define CW_EVAL_LINES_H

#include "host/base/arena.h"
#include "host/base/error.h"

struct cw_lines;

/* Reads the line tables of a module. A module that has none, or that makes no sense, yields NULL, which knows no line.
 */
const struct cw_lines *cw_lines_read(const void *code, size_t size, struct cw_arena *arena);

/* The file and line of the instruction at `pc` bytes from the start of a function; false where that is not known. The
 * file's text lives as long as the lines. */
bool cw_lines_find(const struct cw_lines *lines, const char *function, uint64_t pc, const char **file, uint32_t *line);

#endif
