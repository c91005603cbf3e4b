#define _GNU_SOURCE
#include "cli/text_output.h"

#include <stdlib.h>
#include <string.h>

#include "host/base/file.h"

enum cw_status cw_text_output(const char *path, enum cw_status (*render)(FILE *, const void *, struct cw_error *),
                              const void *content, struct cw_error *err)
{
    if (strcmp(path, "-") == 0)
        return render(stdout, content, err);
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    enum cw_status status = memory ? render(memory, content, err) : cw_error_nomem(err);
    if (memory) {
        bool failed = ferror(memory);
        if ((fclose(memory) != 0 || failed) && status == CW_OK)
            status = cw_error_nomem(err);
    }
    if (status == CW_OK)
        status = cw_file_write(path, text, size, err);
    free(text);
    return status;
}
