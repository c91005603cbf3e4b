/* Text for a file or, for "-", for standard output. */
#ifndef CW_TEXT_OUTPUT_H
#define CW_TEXT_OUTPUT_H

#include "base/file.h"

/* As cw_file_print, and CW_ERR_IO where standard output cannot be written. */
enum cw_status cw_text_output(const char *path, cw_file_render *render, const void *content, struct cw_error *err);

#endif
