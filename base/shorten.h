/* Shortens names of C++ functions for the column of a table. */
#ifndef CW_BASE_SHORTEN_H
#define CW_BASE_SHORTEN_H

#include <stddef.h>

enum { CW_SHORT_SIZE = 2048 };

/* Writes a function's name, escaped as in base/text.h, in at most `width` columns; 0: the whole name. Leaves out, until
 * the name fits: the returned type and the parameters, lambdas within functions, namespaces, and template arguments.
 * Keeps the functor or operation among the arguments, which tells kernels of one name apart; from 20 columns on it gets
 * half of the width: "vectorized_elementwise_kernel<..CUDAFunctor_add..>", "vectoriz..<CUDAFunc..>". Returns `text`. */
const char *cw_shorten(const char *name, size_t width, char text[CW_SHORT_SIZE]);

/* Writes the family of a kernel: the name shared by kernels that differ in types, functors and tile sizes. That is the
 * function's name without namespaces and template arguments, up to the part with a size, and without numbers at its
 * end. For a mere wrapper (device_kernel<GemmUniversal<..>>) it is the class that the wrapper runs. Not escaped:
 * "multi_tensor_apply_kernel", "cutlass_80_tensorop_s1688gemm", "nvjet_sm90_tst". Returns `text`. */
const char *cw_shorten_to_family(const char *name, char text[CW_SHORT_SIZE]);

/* Writes a function's name as every profiler spells it, to compare names that different demanglers made readable:
 * without returned type, parameters, blanks, and the types before numbers, as in "f<float, (int)128>(T1 *)":
 * "f<float,128>". Returns `text`. */
const char *cw_shorten_to_spelling(const char *name, char text[CW_SHORT_SIZE]);

#endif
