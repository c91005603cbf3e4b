/* What a file of a trace declares, a real GPU fills: the shipped captures of one have every field of every kind, but
 * for those that are listed with the reason. And the simulated GPU fills no other. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/backend/sim/sim_backend.h"
#include "agent/backend/trace_capture.h"
#include "tests/support/trace_fields.h"

/* ---- what is not filled ----------------------------------------------------------------------------------------- */

enum who { NOBODY, SIMULATED }; /* who may fill it all the same */

static const struct unfilled {
    enum cw_trace_kind kind;
    enum cw_trace_field field; /* CW_FIELD__COUNT: all of the kind, which has no row */
    enum who who;
    const char *why;
} unfilled[] = {
    {CW_TRACE_DRIVER, CW_FIELD_EVENT_HANDLE, SIMULATED, "no call of the driver recorded an event"},
    {CW_TRACE_DRIVER, CW_FIELD_PARENT, SIMULATED, "captured without --calls for inner calls"},
    {CW_TRACE_INTERNAL, CW_FIELD__COUNT, SIMULATED, "the driver launched nothing outside of every call"},
    {CW_TRACE_ENVIRONMENT, CW_FIELD_FAN, NOBODY, "an SXM module has no fan"},
    {CW_TRACE_LINK, CW_FIELD__COUNT, SIMULATED,
     "captured on a virtual machine without NVLink, which shows no bus either"},
    {CW_TRACE_UNIFIED, CW_FIELD_DEVICES, NOBODY, "no two GPUs contended for memory"},
    {CW_TRACE_NVTX_MARK, CW_FIELD_PAYLOAD_TEXT, NOBODY, "NCCL makes ranges, and no marks"},
    {CW_TRACE_OPENACC, CW_FIELD_FILE, NOBODY, "gcc's runtime knows neither file nor line"},
    {CW_TRACE_OPENACC, CW_FIELD_LINE, NOBODY, "gcc's runtime knows neither file nor line"},
    {CW_TRACE_DECOMPRESS, CW_FIELD__COUNT, SIMULATED, "GPUs before Blackwell decompress nothing"},
    {CW_TRACE_KERNEL, CW_FIELD_COMPLETED, NOBODY, "no kernel launched one that ended later"},
    {CW_TRACE_COPY, CW_FIELD_RUNTIME_CORRELATION, NOBODY, "each call has one number"},
    {CW_TRACE_ALLOCATION, CW_FIELD_PC, NOBODY, "CUPTI 13.0 gives 0 on an H200"},
    {CW_TRACE_ALLOCATION, CW_FIELD_POOL_PROCESS, NOBODY, "no process imported a pool"},
    {CW_TRACE_UNIFIED, CW_FIELD_ON_CPU, NOBODY, "no memory went to and fro"},
    {CW_TRACE_OVERHEAD, CW_FIELD_DEVICE, NOBODY, "all overheads are of threads"},
    {CW_TRACE_OVERHEAD, CW_FIELD_CONTEXT, NOBODY, "all overheads are of threads"},
    {CW_TRACE_OVERHEAD, CW_FIELD_STREAM, NOBODY, "all overheads are of threads"},
    {CW_TRACE_OVERHEAD, CW_FIELD_CHANNEL, NOBODY, "no command buffer was full"},
    {CW_TRACE_OVERHEAD, CW_FIELD_CHANNEL_TYPE, NOBODY, "no command buffer was full"},
    {CW_TRACE_OVERHEAD, CW_FIELD_COMMAND_BUFFER, NOBODY, "no command buffer was full"},
    {CW_TRACE_ACCOUNT, CW_FIELD_DROPPED, SIMULATED, "nothing was lost"},
};

static const struct unfilled *find(enum cw_trace_kind kind, enum cw_trace_field field)
{
    for (size_t i = 0; i < sizeof unfilled / sizeof *unfilled; i++)
        if (unfilled[i].kind == kind && (unfilled[i].field == field || unfilled[i].field == CW_FIELD__COUNT))
            return &unfilled[i];
    return NULL;
}

/* ---- captures --------------------------------------------------------------------------------------------------- */

static struct trace_fields real, simulated;
static struct cw_error err;

static void read_shipped(void)
{
    glob_t files;
    cr_assert(glob(CW_SOURCE_DIR "/data/captures/trace_*.cwd", 0, NULL, &files) == 0 && files.gl_pathc >= 6);
    for (size_t i = 0; i < files.gl_pathc; i++)
        cr_assert_eq(trace_fields_add(&real, files.gl_pathv[i], &err), CW_OK, "%s", err.message);
    globfree(&files);
}

static void simulate(struct cw_trace_options options)
{
    char path[] = "/tmp/trace_fields.XXXXXX", word[] = "true", *program[] = {word, NULL};
    int status = -1;
    close(mkstemp(path));
    options.capture.output = path;
    options.capture.argv = program;
    options.capture.force = true;
    options.capture.sim_seed = 1;
    options.capture.sim_steps = 6;
    options.capture.sim_processes = 2;
    options.filter.launch_count = UINT64_MAX;
    options.environment_ns = 1000000;
    options.quiet = true;
    cr_assert_eq(cw_trace_kinds_read(&options.kinds, "all", &err), CW_OK);
    cr_assert(cw_sim_trace(&options, &status, &err) == CW_OK && status == 0, "%s", err.message);
    cr_assert_eq(trace_fields_add(&simulated, path, &err), CW_OK, "%s", err.message);
    unlink(path);
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */

Test(trace_fields, a_real_gpu_fills_what_is_declared)
{
    read_shipped();
    for (enum cw_trace_kind k = 0; k < CW_TRACE_KIND__COUNT; k++)
        for (uint32_t i = 0; i < cw_trace_kinds[k].field_count; i++) {
            const enum cw_trace_field f = (enum cw_trace_field)cw_trace_kinds[k].fields[i];
            const struct unfilled *listed = find(k, f);
            cr_expect(listed || real.filled[k][f], "no capture fills %s of %s", cw_trace_fields[f].name,
                      cw_trace_kinds[k].name);
            cr_expect(!listed || !real.filled[k][f], "%s of %s is filled, but listed: %s", cw_trace_fields[f].name,
                      cw_trace_kinds[k].name, listed ? listed->why : "");
        }
}

Test(trace_fields, and_the_simulated_one_no_other)
{
    read_shipped();
    simulate((struct cw_trace_options){.latency = true});
    simulate((struct cw_trace_options){.whole_graphs = true, .sim_drop = 2, .sim_untimed = 2});
    simulate((struct cw_trace_options){.filter = {.range = "step"}});
    for (enum cw_trace_kind k = 0; k < CW_TRACE_KIND__COUNT; k++) {
        cr_expect(simulated.rows[k], "the simulated GPU has no %s", cw_trace_kinds[k].name);
        for (enum cw_trace_field f = 0; f < CW_FIELD__COUNT; f++) {
            const struct unfilled *listed = find(k, f);
            cr_expect(!simulated.filled[k][f] || real.filled[k][f] || (listed && listed->who == SIMULATED),
                      "only the simulated GPU fills %s of %s", cw_trace_fields[f].name, cw_trace_kinds[k].name);
        }
    }
}
