#define _GNU_SOURCE
#include "agent/backend/trace_capture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/session/signals.h"
#include "base/suggest.h"
#include "base/text.h"

/* ---- kinds ------------------------------------------------------------------------------------------------------ */

#define BIT(kind) CW_TRACE_BIT(CW_TRACE_##kind)
/* Kinds that describe others come with them. */
#define DESCRIBING (BIT(SHAPE) | BIT(WINDOW) | BIT(ACCOUNT))
#define ALL ((CW_TRACE_BIT(CW_TRACE_KIND__COUNT) - 1) & ~DESCRIBING)
#define GPU (BIT(KERNEL) | BIT(COPY) | BIT(MEMSET) | BIT(GRAPH) | BIT(DEVICE_GRAPH) | BIT(DECOMPRESS))
#define OBJECTS (BIT(CONTEXT) | BIT(STREAM) | BIT(NAME))
#define NVTX (BIT(NVTX_RANGE) | BIT(NVTX_MARK) | BIT(NAME))
#define LAUNCHES (BIT(KERNEL) | BIT(COPY) | BIT(MEMSET) | BIT(GRAPH) | BIT(SYNC) | BIT(RUNTIME) | BIT(DRIVER) | OBJECTS)
#define DEFAULT (LAUNCHES | NVTX | BIT(OVERHEAD) | BIT(ENVIRONMENT))

static const struct {
    const char *name, *help;
    uint64_t kinds;
} groups[] = {
    {"default", "all that say yes above", DEFAULT},
    {"cuda", "default without NVTX and the environment", LAUNCHES | BIT(OVERHEAD)},
    {"gpu", "work on the GPU", GPU},
    {"api", "calls of the runtime and the driver", BIT(RUNTIME) | BIT(DRIVER) | BIT(INTERNAL)},
    {"sync", "waits of the program", BIT(SYNC) | BIT(EVENT)},
    {"nvtx", "the program's own ranges, marks and names", NVTX},
    {"mem", "allocations, frees and pools", BIT(ALLOCATION) | BIT(POOL)},
    {"um", "unified memory", BIT(UNIFIED)},
    {"env", "clocks, temperature, power", BIT(ENVIRONMENT)},
    {"graphs", "CUDA graphs, and their launches",
     BIT(GRAPH) | BIT(DEVICE_GRAPH) | BIT(GRAPH_MADE) | BIT(NODE) | BIT(EDGE)},
    {"all", "all of the above", ALL},
};

static const char *const about[CW_TRACE_KIND__COUNT] = {
    [CW_TRACE_KERNEL] = "a kernel on a GPU, with its grid, block, registers and memory",
    [CW_TRACE_COPY] = "a copy: direction, bytes, kinds of memory",
    [CW_TRACE_MEMSET] = "memory set to a value",
    [CW_TRACE_DRIVER] = "a call of the driver (cu...)",
    [CW_TRACE_RUNTIME] = "a call of the runtime (cuda...)",
    [CW_TRACE_INTERNAL] = "a launch that the driver makes itself",
    [CW_TRACE_SYNC] = "a wait of the program for an event, a stream or a context, or a question whether it is done",
    [CW_TRACE_EVENT] = "a CUDA event that was recorded",
    [CW_TRACE_STREAM] = "a stream that was made",
    [CW_TRACE_CONTEXT] = "a context that was made",
    [CW_TRACE_NVTX_RANGE] = "an NVTX range",
    [CW_TRACE_NVTX_MARK] = "an NVTX mark",
    [CW_TRACE_NAME] = "a name that the program gave a thread, stream or the like",
    [CW_TRACE_OVERHEAD] = "time that CUPTI, compiling or loading took",
    [CW_TRACE_ALLOCATION] = "memory that was allocated or freed",
    [CW_TRACE_POOL] = "a memory pool that was made, trimmed or destroyed",
    [CW_TRACE_UNIFIED] = "unified memory: migrations, faults, thrashing",
    [CW_TRACE_ENVIRONMENT] = "clocks, temperature, power, fan, throttling",
    [CW_TRACE_GRAPH] = "a launch of a CUDA graph as a whole",
    [CW_TRACE_DEVICE_GRAPH] = "a launch of a CUDA graph by the GPU (with --graphs whole)",
    [CW_TRACE_JIT] = "code that was compiled while the program ran",
    [CW_TRACE_MODULE] = "a module that was loaded or unloaded",
    [CW_TRACE_EXTERNAL] = "a number that the program gave a call",
    [CW_TRACE_LINK] = "an NVLink or PCI Express link of the GPU",
    [CW_TRACE_OPENACC] = "work of an OpenACC program's runtime, beside CUDA",
    [CW_TRACE_OPENMP] = "work of an OpenMP program on the host: regions, tasks, waits (LLVM's runtime)",
    [CW_TRACE_DECOMPRESS] = "memory that the GPU decompressed",
    [CW_TRACE_GRAPH_MADE] = "a CUDA graph that was made, instantiated or destroyed",
    [CW_TRACE_NODE] = "a node of a CUDA graph, and what it does",
    [CW_TRACE_EDGE] = "a node of a CUDA graph that waits for another",
};
enum { GROUPS = sizeof groups / sizeof *groups, MANY_KINDS = 8 /* threshold for a short list */ };

/* Kinds of a name; 0 if it is unknown. */
static uint64_t kinds_of(const char *name)
{
    for (int g = 0; g < GROUPS; g++)
        if (strcmp(groups[g].name, name) == 0)
            return groups[g].kinds;
    const enum cw_trace_kind kind = cw_trace_kind_find(name);
    return kind < CW_TRACE_KIND__COUNT ? CW_TRACE_BIT(kind) & ALL : 0;
}

static enum cw_status unknown_name(const char *name, struct cw_error *err)
{
    struct cw_suggest near;
    char text[256];
    cw_suggest_init(&near, name);
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        if (CW_TRACE_BIT(k) & ALL)
            cw_suggest_offer(&near, cw_trace_kinds[k].name);
    for (int g = 0; g < GROUPS; g++)
        cw_suggest_offer(&near, groups[g].name);
    return cw_error_set(err, CW_ERR_USAGE, "found the kind '%s', expected one that --list-kinds prints%s", name,
                        cw_suggest_text(&near, text, sizeof text));
}

enum cw_status cw_trace_kinds_read(uint64_t *kinds, const char *text, struct cw_error *err)
{
    *kinds = *text == '-' ? DEFAULT : 0;
    for (const char *at = text; *at;) {
        const size_t length = strcspn(at, ",");
        const bool removes = *at == '-';
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(length - removes), at + removes);
        const uint64_t named = length < sizeof name ? kinds_of(name) : 0;
        if (!named)
            return unknown_name(name, err);
        *kinds = removes ? *kinds & ~named : *kinds | named;
        at += length + (at[length] == ',');
    }
    return *kinds ? CW_OK : cw_error_set(err, CW_ERR_USAGE, "found no kind in '%s', expected one at least", text);
}

void cw_trace_kinds_list(void)
{
    enum { RECORDS = 32, MEMBERS = 23 }; /* columns */
    const unsigned width = cw_text_width(STDOUT_FILENO);
    printf("%-22s %-8s %s\n", "kind", "default", "what it records");
    for (int k = 0; k < CW_TRACE_KIND__COUNT; k++)
        if (CW_TRACE_BIT(k) & ALL) {
            printf("%-22s %-8s ", cw_trace_kinds[k].name, CW_TRACE_BIT(k) & DEFAULT ? "yes" : "no");
            cw_text_put_words(stdout, about[k], strlen(about[k]), RECORDS, width);
            putchar('\n');
        }
    printf("\n%-22s %s\n", "group", "kinds");
    for (int g = 0; g < GROUPS; g++) {
        const bool few = __builtin_popcountll(groups[g].kinds) < MANY_KINDS;
        char text[1024];
        int used = snprintf(text, sizeof text, "%s%s", groups[g].help, few ? ":" : "");
        for (int k = 0; k < CW_TRACE_KIND__COUNT && few; k++)
            if (CW_TRACE_BIT(k) & groups[g].kinds)
                used += snprintf(text + used, sizeof text - (size_t)used, " %s", cw_trace_kinds[k].name);
        printf("%-22s ", groups[g].name);
        cw_text_put_words(stdout, text, (size_t)used, MEMBERS, width);
        putchar('\n');
    }
}

/* ---- captures --------------------------------------------------------------------------------------------------- */

/* Lets the agent take SIGUSR2 and says so, because programs use the signal, too. */
static void take_signals(const struct cw_trace_options *o)
{
    cw_signals_keep_user2();
    if (!o->quiet)
        fprintf(stderr,
                "capture-agent: kill -USR2 %ld begins the trace, and again ends it; the program gets none of these "
                "signals\n",
                (long)getpid());
}

enum cw_status cw_trace_capture_open(struct cw_trace_output *output, const struct cw_trace_options *o, const char *chip,
                                     struct cw_arena *arena, struct cw_error *err)
{
    const char *filter = cw_filter_text(&o->filter, arena),
               *windows = cw_trace_window_text(&o->windows, &o->filter, arena);
    if (!filter || !windows)
        return cw_error_nomem(err);
    const enum cw_status status = cw_trace_output_open(output, o->capture.output, o->capture.force, chip, filter, err);
    output->windows = windows;
    if (status == CW_OK && o->windows.toggled)
        take_signals(o);
    return status;
}

static void put_kind(const struct cw_trace_output *output, enum cw_trace_kind kind, bool only_lost, bool *any)
{
    const struct cw_trace_books b = cw_trace_output_books(output, kind);
    const uint64_t rows = b.rows > b.recorded ? b.rows : b.recorded;
    if (only_lost ? !b.lost && !b.untimed : !rows && !b.lost)
        return;
    fprintf(stderr, "%s %s %" PRIu64, !*any ? "capture-agent: recorded" : ",", cw_trace_kinds[kind].name, rows);
    *any = true;
    if (!b.lost && !b.untimed)
        return;
    fprintf(stderr, " (");
    if (b.lost)
        fprintf(stderr, "%" PRIu64 " lost", b.lost);
    if (b.untimed)
        fprintf(stderr, "%s%" PRIu64 " without times", b.lost ? ", " : "", b.untimed);
    fprintf(stderr, ")");
}

/* Prints a note: "kernel, copy, memset and 3 more: the reason". */
static void tell_note(const struct cw_trace_note *note)
{
    const uint64_t kinds = note->kinds & ALL;
    unsigned named = 0, all = (unsigned)__builtin_popcountll(kinds);
    fprintf(stderr, "capture-agent:");
    for (int kind = 0; kind < CW_TRACE_KIND__COUNT && named < 3; kind++)
        if (CW_TRACE_BIT(kind) & kinds)
            fprintf(stderr, "%s %s", named++ ? "," : "", cw_trace_kinds[kind].name);
    if (all > named)
        fprintf(stderr, " and %u more", all - named);
    cw_text_print(stderr, ": %s\n", note->text);
}

static void tell(const struct cw_trace_output *output, bool quiet)
{
    bool any = false;
    for (int kind = 0; kind < CW_TRACE_KIND__COUNT; kind++)
        if (CW_TRACE_BIT(kind) & ALL)
            put_kind(output, (enum cw_trace_kind)kind, quiet, &any);
    if (any)
        fputc('\n', stderr);
    if (output->dropped)
        fprintf(stderr, "capture-agent: CUPTI dropped %" PRIu64 " record%s: --buffer or --buffers give it more room\n",
                output->dropped, output->dropped == 1 ? "" : "s");
    for (uint32_t i = 0; i < output->note_count; i++)
        if (output->notes[i].kinds & ALL)
            tell_note(&output->notes[i]);
}

/* Counts the rows of events in the program, without descriptions if `kinds` has events. */
static uint64_t count_events(const struct cw_trace_output *output, uint64_t kinds)
{
    const uint64_t events = ALL & ~(OBJECTS | BIT(ENVIRONMENT) | BIT(OVERHEAD) | BIT(LINK));
    uint64_t rows = 0;
    for (int kind = 0; kind < CW_TRACE_KIND__COUNT; kind++)
        if (CW_TRACE_BIT(kind) & (kinds & events ? events : ALL))
            rows += cw_trace_output_books(output, (enum cw_trace_kind)kind).rows;
    return rows;
}

static enum cw_status no_event(const struct cw_trace_output *output, const struct cw_trace_options *o,
                               struct cw_error *err)
{
    const char *name = o->capture.argv[0];
    if (!output->process_count)
        return cw_error_set(err, CW_ERR_APP, "%s used no GPU%s, so nothing was traced", name,
                            o->filter.devices || o->filter.process ? " that was requested" : "");
    if (output->windows && *output->windows && !cw_trace_output_books(output, CW_TRACE_WINDOW).rows)
        return cw_error_set(err, CW_ERR_APP, "no window opened while %s ran (%s), so nothing was traced", name,
                            output->windows);
    if (o->filter.range)
        return cw_error_set(err, CW_ERR_APP, "%s had no event of the requested kinds in a range that matches '%s'",
                            name, o->filter.range);
    if (cw_trace_window_any(&o->windows, &o->filter))
        return cw_error_set(err, CW_ERR_APP, "%s had no event of the requested kinds while a window was open", name);
    return cw_error_set(err, CW_ERR_APP, "%s had no event of the requested kinds", name);
}

enum cw_status cw_trace_capture_end(struct cw_trace_output *output, const struct cw_trace_options *o,
                                    const struct cw_program *program, struct cw_error *trouble, int *exit_status,
                                    struct cw_error *err)
{
    if (trouble->code == CW_OK)
        cw_trace_output_end(output, program, trouble);
    tell(output, o->quiet);
    if (trouble->code != CW_OK)
        *err = *trouble;
    enum cw_status status =
        cw_program_verdict(program, o->capture.argv[0], o->capture.output, trouble->code, exit_status, err);
    return status != CW_OK || *exit_status || count_events(output, o->kinds) ? status : no_event(output, o, err);
}
