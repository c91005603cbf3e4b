#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/eval/run.h"

static struct cw_terminal_style terminal_style(size_t top)
{
    struct cw_terminal_style style = {.top = top};
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (!isatty(STDOUT_FILENO))
        return style;
    style.bold = true;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
        style.width = size.ws_col;
    else if (columns)
        style.width = (unsigned)strtoul(columns, NULL, 10);
    return style;
}

enum cw_status cw_eval_write(struct cw_eval_run *r, const struct cw_output *output)
{
    const struct cw_eval_request *o = r->o;
    const struct cw_terminal_style style = terminal_style(o->top);
    enum cw_status status = CW_OK;
    if (o->hdf5)
        status = cw_hdf5_write(output, o->hdf5, r->err);
    if (status == CW_OK && o->csv)
        status = cw_file_print(o->csv, cw_csv_write, output, r->err);
    if (status == CW_OK && o->json)
        status = cw_file_print(o->json, cw_json_write, output, r->err);
    const char *const files[] = {o->hdf5, o->csv, o->json};
    bool taken = false;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        taken = taken || (files[i] && cw_file_is_standard(files[i]));
    return status == CW_OK && !taken ? output->print(output, &style, stdout, r->err) : status;
}

enum cw_status cw_eval_write_metrics(struct cw_eval_run *r)
{
    struct cw_output output;
    const struct counterworks_chip *described = r->o->hdf5 ? r->chip : NULL;
    enum cw_status status = cw_lib_output(&output, &r->result, described, r->arena, r->err);
    return status == CW_OK ? cw_eval_write(r, &output) : status;
}
