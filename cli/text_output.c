#include "cli/text_output.h"

#include <string.h>

enum cw_status cw_text_output(const char *path, cw_file_render *render, const void *content, struct cw_error *err)
{
    if (strcmp(path, "-") != 0)
        return cw_file_print(path, render, content, err);
    enum cw_status status = render(stdout, content, err);
    return status == CW_OK ? cw_file_flush(err) : status;
}
