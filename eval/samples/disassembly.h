/* Texts of instructions, by nvdisasm of NVIDIA's CUDA toolkit. Modules come from files and are not trusted: nvdisasm
 * runs in a child process with limits (eval/samples/confined.h). */
#ifndef CW_EVAL_SAMPLES_DISASSEMBLY_H
#define CW_EVAL_SAMPLES_DISASSEMBLY_H

#include "base/arena.h"
#include "base/error.h"

/* Replaces "nvdisasm" by a path, in `arena`: the file that the variable CW_NVDISASM names, else in PATH, in bin of
 * CUDA_HOME, or in /usr/local/cuda/bin. Any other text is a path already. CW_ERR_UNSUPPORTED if there is no program. */
enum cw_status cw_disassembler_find(const char **path, struct cw_arena *arena, struct cw_error *err);

struct cw_disassembly;

/* Runs nvdisasm on functions of a module, whose names are sorted by strcmp. NULL if it failed, or took
 * more memory or time than it may; *milliseconds is the time left for it. Free it by cw_disassembly_free. */
struct cw_disassembly *cw_disassembly_make(const char *disassembler, const void *code, size_t size,
                                           const char *const *functions, size_t function_count, uint32_t *milliseconds);
/* The text of the instruction so many bytes from the start of a function, as "FFMA R4, R2, R3, R4"; "" if it is not
 * known. Lives as long as the disassembly. */
const char *cw_disassembly_find(const struct cw_disassembly *d, const char *function, uint64_t offset);
void cw_disassembly_free(struct cw_disassembly *d);

#endif
