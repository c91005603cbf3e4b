/* Names of C++ functions for a column of a table. */
#ifndef CW_BASE_SHORTEN_H
#define CW_BASE_SHORTEN_H

#include <stddef.h>

enum { CW_SHORT_SIZE = 2048 };

/* A function's name, escaped as base/text.h does it, in `width` columns at most; 0: all of it. Left out are, until it
 * fits: the type that it returns and its parameters, lambdas within functions, namespaces, and template arguments. Of
 * these the functor or operation stays, which tells kernels of one name apart, and half of 20 columns and more are its:
 * "vectorized_elementwise_kernel<..CUDAFunctor_add..>", "vectoriz..<CUDAFunc..>". Returns `text`. */
const char *cw_shorten(const char *name, size_t width, char text[CW_SHORT_SIZE]);

/* What kernels share that differ in types, functors and the sizes of their tiles: the function's name without
 * namespaces and template arguments, up to the part that has a size, and without numbers at its end. Where the function
 * is a mere wrapper (device_kernel<GemmUniversal<..>>), it is the class that it runs. Not escaped:
 * "multi_tensor_apply_kernel", "cutlass_80_tensorop_s1688gemm", "nvjet_sm90_tst". Returns `text`. */
const char *cw_shorten_to_family(const char *name, char text[CW_SHORT_SIZE]);

#endif
