/* Text for a file or, for "-", for standard output. */
#ifndef CW_TEXT_OUTPUT_H
#define CW_TEXT_OUTPUT_H

#include <stdio.h>

#include "host/base/error.h"

/* A file is complete or not there, so its text is made in memory first. */
enum cw_status cw_text_output(const char *path,
                              enum cw_status (*render)(FILE *out, const void *content, struct cw_error *err),
                              const void *content, struct cw_error *err);

#endif
