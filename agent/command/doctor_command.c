#include <stdio.h>

#include "agent/command/command.h"
#include "agent/session/node_facts.h"
#include "base/file.h"
#include "base/usage.h"

struct doctor_arguments {
    const char *facts;
    bool force, quiet;
};

static const struct cw_option doctor_options[] = {
    {"facts", 0, "FILE",
     "also write a description of each GPU as JSON, for metric-config --device-facts; - prints only that",
     CW_OPTION_TEXT(struct doctor_arguments, facts)},
    {"force", 0, NULL, "also replace a file that is no JSON", CW_OPTION_FLAG(struct doctor_arguments, force)},
    {"quiet", 'q', NULL, "no report, only the first obstacle", CW_OPTION_FLAG(struct doctor_arguments, quiet)},
    {0},
};

/* Examines the node. Prints a report of failures, unless standard output is for the facts alone or nobody wants it. */
static enum cw_status examine(const struct cw_backend *backend, const struct doctor_arguments *a, struct cw_error *err)
{
    struct cw_arena *arena = cw_arena_create();
    struct cw_node_facts *facts = arena && a->facts ? cw_node_facts_create(arena) : NULL;
    bool alone = a->quiet || (a->facts && cw_file_is_standard(a->facts));
    struct cw_error failed = CW_ERROR_INIT;
    if (a->facts && !facts) {
        cw_arena_destroy(arena);
        return cw_error_nomem(err);
    }
    const struct cw_node_needs everything = {
        .need = CW_NEED_ALL, .report = !alone, .devices = CW_EVERY_DEVICE, .facts = facts};
    enum cw_status status = backend->check(&everything, alone ? err : &failed);
    if (facts && (status == CW_OK || cw_node_facts_any(facts))) {
        enum cw_status written = cw_node_facts_write(facts, a->facts, err);
        status = status == CW_OK ? written : status;
    }
    cw_arena_destroy(arena);
    return status;
}

int cw_doctor_command(int argc, char **argv)
{
    static const struct cw_usage usage = {
        doctor_options, "",
        "Checks whether this node can make captures, and says how to remove obstacles. Prints one line per check: ok, "
        "note or FAIL.\vExample:\n  $0\n  $0 --facts node.json"};
    struct doctor_arguments a = {0};
    cw_usage_read(&usage, argc, argv, &a);
    const struct cw_backend *backend = cw_command_real_backend();
    if (backend->missing) {
        printf("FAIL  %s\n", backend->missing);
        return CW_ERR_UNSUPPORTED;
    }
    struct cw_error err = CW_ERROR_INIT;
    enum cw_status status = a.facts ? cw_file_may_replace(a.facts, &cw_file_json, a.force, &err) : CW_OK;
    if (status == CW_OK)
        status = examine(backend, &a, &err);
    if (status == CW_OK)
        status = cw_file_flush(&err);
    return err.code != CW_OK ? cw_usage_fail(&err) : (int)status;
}
