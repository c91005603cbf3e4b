#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/eval_run.h"
#include "cli/text_output.h"
#include "eval/csv.h"
#include "eval/hdf5.h"
#include "eval/json.h"
#include "eval/table.h"
#include "metricdb/glossary.h"

/* Descriptions are a courtesy: without a glossary there are none. */
static enum cw_status describe(const char *const **descriptions, struct cw_eval_run *r)
{
    const struct cw_result *result = cw_eval_of_samples(r) ? &r->samples.base : &r->ranges;
    const struct cw_glossary *glossary;
    *descriptions = NULL;
    enum cw_status status = cw_glossary_load(&glossary, r->arena, NULL);
    if (status != CW_OK)
        return status == CW_ERR_NOMEM ? cw_error_nomem(r->err) : CW_OK;
    const char **texts = cw_arena_alloc(r->arena, result->metric_count, sizeof *texts);
    for (uint32_t i = 0; texts && i < result->metric_count; i++) {
        char text[CW_DESCRIPTION_MAX];
        cw_describe_metric(glossary, r->chip, &result->metrics[i], text, sizeof text);
        if (!(texts[i] = cw_arena_strdup(r->arena, text)))
            texts = NULL;
    }
    *descriptions = texts;
    return texts ? CW_OK : cw_error_nomem(r->err);
}

static enum cw_status render_csv(FILE *out, const void *result, struct cw_error *err)
{
    (void)err;
    cw_csv_write(result, out);
    return CW_OK;
}

static enum cw_status render_json(FILE *out, const void *result, struct cw_error *err)
{
    return cw_json_write(result, out, err);
}

static enum cw_status render_pm_csv(FILE *out, const void *result, struct cw_error *err)
{
    (void)err;
    cw_pm_csv_write(result, out);
    return CW_OK;
}

static enum cw_status render_pm_json(FILE *out, const void *result, struct cw_error *err)
{
    return cw_pm_json_write(result, out, err);
}

static struct cw_table_style terminal_style(void)
{
    struct cw_table_style style = {0};
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

static enum cw_status write_hdf5(struct cw_eval_run *r)
{
    const char *const *descriptions;
    enum cw_status status = describe(&descriptions, r);
    if (status != CW_OK)
        return status;
    return cw_eval_of_samples(r) ? cw_pm_hdf5_write(&r->samples, descriptions, r->o->hdf5, r->err)
                                 : cw_hdf5_write(&r->ranges, descriptions, r->o->hdf5, r->err);
}

static enum cw_status write_table(struct cw_eval_run *r)
{
    struct cw_table_style style = terminal_style();
    if (cw_eval_of_samples(r))
        return cw_pm_table_write(&r->samples, stdout, r->err);
    cw_table_write(&r->ranges, &style, stdout);
    return CW_OK;
}

enum cw_status cw_eval_write(struct cw_eval_run *r)
{
    const struct cw_eval_request *o = r->o;
    enum cw_status status = CW_OK;
    if (o->hdf5)
        status = write_hdf5(r);
    if (status == CW_OK && o->csv)
        status = cw_eval_of_samples(r) ? cw_text_output(o->csv, render_pm_csv, &r->samples, r->err)
                                       : cw_text_output(o->csv, render_csv, &r->ranges, r->err);
    if (status == CW_OK && o->json)
        status = cw_eval_of_samples(r) ? cw_text_output(o->json, render_pm_json, &r->samples, r->err)
                                       : cw_text_output(o->json, render_json, &r->ranges, r->err);
    bool taken = (o->csv && strcmp(o->csv, "-") == 0) || (o->json && strcmp(o->json, "-") == 0);
    return status == CW_OK && !taken ? write_table(r) : status;
}
