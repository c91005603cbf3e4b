/* Values of NVIDIA's evaluator on native counter data, as a reference to compare with. */
#ifndef CW_CLI_EVAL_NATIVE_REFERENCE_H
#define CW_CLI_EVAL_NATIVE_REFERENCE_H

#include "eval/check.h"

/* Evaluates `result`'s metrics on the native images `path`, `path`.1, `path`.2 and so on, as capture-agent range
 * --keep-native writes them, which have to hold as many ranges as the result. Loads NVIDIA's host library;
 * CW_ERR_UNSUPPORTED without it. */
enum cw_status cw_native_reference_load(struct cw_reference *reference, const char *path,
                                        const struct cw_result *result, const struct cw_eval_options *options,
                                        struct cw_arena *arena, struct cw_error *err);

#endif
