#define _GNU_SOURCE
#include "agent/command/command.h"
#include "agent/backend/cupti/cupti.h"
#include "agent/backend/sim/sim.h"
#include "agent/common/file_name.h"
#include "base/text.h"
#include "base/usage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_PLAN = 256 << 20 };

int cw_command_fail(const struct cw_error *err)
{
    char text[1200];
    cw_text_print(stderr, "capture-agent: %s\n", cw_error_format(err, text, sizeof text));
    return err->code;
}

unsigned long cw_command_number(struct argp_state *state, const char *text, unsigned long most)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || value > most)
        cw_usage_error(state, "found '%s', expected a whole number up to %lu", text, most);
    return value;
}

uint64_t cw_command_devices(struct argp_state *state, const char *text)
{
    uint64_t devices = 0;
    if (strcmp(text, "all") == 0)
        return 0;
    if (!*text)
        cw_usage_error(state, "found --device '', expected numbers below 64 as 0,2, or all");
    for (const char *at = text; *at; at += *at == ',') {
        char *end = NULL;
        unsigned long number = strtoul(at, &end, 10);
        if (*at < '0' || *at > '9' || number >= 64 || (*end && *end != ','))
            cw_usage_error(state, "found --device '%s', expected numbers below 64 as 0,2, or all", text);
        devices |= UINT64_C(1) << number;
        at = end;
    }
    return devices;
}

/* Another backend gets a line here, and its name in --help. */
static const struct cw_backend *const backends[] = {
#ifdef CW_HAS_CUPTI
    &cw_backend_cupti,
#else
    &cw_backend_absent,
#endif
    &cw_backend_sim,
};

const struct cw_backend *cw_command_real_backend(void)
{
    return backends[0];
}

/* NULL for an unknown name. */
static const struct cw_backend *find_backend(const char *name)
{
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
        if (strcmp(backends[i]->name, name) == 0)
            return backends[i];
    return NULL;
}

const struct cw_backend *cw_command_backend(struct argp_state *state, const char *name)
{
    const struct cw_backend *backend = find_backend(name);
    if (!backend)
        cw_usage_error(state, "found the backend '%s', expected cupti or sim", name);
    return backend;
}

const struct cw_backend *cw_command_default_backend(void)
{
    const char *name = getenv("COUNTERWORKS_BACKEND");
    const struct cw_backend *backend = name ? find_backend(name) : NULL;
    return backend ? backend : cw_command_real_backend();
}

bool cw_command_no_code(struct argp_state *state, const char *word)
{
    bool none = strcmp(word, "none") == 0;
    if (!none && strcmp(word, "all") != 0)
        cw_usage_error(state, "found --code '%s', expected all or none", word);
    return none;
}

enum cw_status cw_command_output(char **name, const char *pattern, struct cw_error *err)
{
    *name = NULL;
    for (const char *at = strchr(pattern, '%'); at && at[1]; at = strchr(at + 2, '%'))
        if (at[1] == 'p')
            return cw_error_set(err, CW_ERR_USAGE,
                                "found %%p in '%s', expected %%h, %%r or %%q{NAME}: all processes go into one file",
                                pattern);
    return cw_file_name(name, pattern, &(struct cw_file_name_parts){0}, err);
}

enum cw_status cw_plan_file_open(struct cw_plan_file *plan, const char *path, enum cw_profiler profiler,
                                 struct cw_error *err)
{
    static const char *const purpose[] = {"ranges", "PM sampling"};
    *plan = (struct cw_plan_file){.arena = cw_arena_create()};
    enum cw_status status = plan->arena ? cw_file_read(&plan->file, path, LARGEST_PLAN, err) : cw_error_nomem(err);
    if (status == CW_OK)
        status = cw_config_image_read(&plan->image, plan->file.data, plan->file.size, path, plan->arena, err);
    if (status == CW_OK && plan->image.profiler != profiler)
        status = cw_error_set(err, CW_ERR_USAGE, "%s: found a plan for %s, expected one for %s", path,
                              purpose[plan->image.profiler], purpose[profiler]);
    return status;
}

void cw_plan_file_close(struct cw_plan_file *plan)
{
    cw_bytes_free(&plan->file);
    cw_arena_destroy(plan->arena);
}
