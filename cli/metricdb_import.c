/* metricdb-import: a chip's YAML from NVIDIA's host library. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "host/base/file.h"
#include "host/import/carry.h"
#include "host/import/facts.h"
#include "host/import/fit.h"
#include "host/import/learn.h"
#include "metricdb/chip_write.h"

enum { MOST_EVIDENCE = 256 };

struct options {
    const char *chip, *output, *library, *limits_from;
    bool learn;
    const char *evidence[MOST_EVIDENCE];
    size_t evidence_count;
};

static const struct argp_option option_list[] = {
    {"chip", 'c', "NAME", 0, "the chip to describe, as NVIDIA names it (GH100)", 0},
    {"output", 'o', "FILE", 0, "where to write the YAML (default: standard output)", 0},
    {"evidence", 'e', "FILE", 0,
     "a native counter-data image of this chip (capture-agent --keep-native); confirms formulas and gives peak rates "
     "and instance counts; may be repeated",
     0},
    {"learn", 'L', NULL, 0,
     "learn what one pass can hold by asking the library (minutes); without it and without --limits-from, plans made "
     "with the file know no limits",
     0},
    {"limits-from", 'f', "FILE", 0, "take over what one pass can hold from this chip file", 0},
    {"library", 'l', "FILE", 0, "NVIDIA's host library, where it is not found by itself", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'c':
        o->chip = arg;
        return 0;
    case 'o':
        o->output = arg;
        return 0;
    case 'e':
        if (o->evidence_count == MOST_EVIDENCE)
            argp_error(state, "found more than %d --evidence files", MOST_EVIDENCE);
        o->evidence[o->evidence_count++] = arg;
        return 0;
    case 'L':
        o->learn = true;
        return 0;
    case 'f':
        o->limits_from = arg;
        return 0;
    case 'l':
        o->library = arg;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "found '%s', expected only options", arg);
        return 0;
    case ARGP_KEY_END:
        if (!o->chip)
            argp_error(state, "--chip is required");
        if (o->learn && o->limits_from)
            argp_error(state, "found both --learn and --limits-from, expected one of them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void show_progress(const char *what)
{
    fprintf(stderr, "  %s\n", what);
}

/* The sections that say what one pass can hold, and the line that says where they come from. */
static enum cw_status limits(const struct options *o, const struct cw_nvperf *library, struct cw_facts *facts,
                             struct cw_writer *text, char source[256], struct cw_error *err)
{
    struct cw_learn_report r;
    snprintf(source, 256, "limits: none");
    if (o->limits_from)
        return cw_carry_limits(facts, o->limits_from, text, source, err);
    if (!o->learn)
        return CW_OK;
    enum cw_status status = cw_learn(facts, library, text, &r, isatty(2) ? show_progress : NULL, err);
    snprintf(source, 256,
             "limits: learned by %llu questions to NVIDIA's host library; of %u passes for %u metric sets not used in "
             "learning it refused %u",
             (unsigned long long)r.questions, r.passes, r.sets, r.refused);
    return status;
}

static enum cw_status run(const struct options *o, struct cw_arena *arena, struct cw_writer *text,
                          struct cw_writer *sections, struct cw_error *err)
{
    const struct cw_nvperf *library;
    struct cw_facts facts;
    char evidence[128], limits_source[256];
    snprintf(evidence, sizeof evidence,
             "peaks, instances, cycles, derived counters, ratios: fitted to %zu native captures", o->evidence_count);
    const char *const source[] = {
        "names, units, dimensions, raw counters, domains, throughputs: imported from NVIDIA's host library",
        o->evidence_count ? evidence : "cycles, ratios: inferred from names and raw counters; no captures were given",
        limits_source, NULL};
    enum cw_status status = cw_nvperf_open(&library, o->library, err);
    if (status == CW_OK)
        status = cw_facts_import(&facts, library, o->chip, arena, err);
    if (status == CW_OK)
        status = cw_fit(&facts, library, o->evidence, o->evidence_count, err);
    if (status == CW_OK)
        status = limits(o, library, &facts, sections, limits_source, err);
    if (status != CW_OK)
        return status;
    cw_chip_write(&facts.chip, source, text);
    cw_write_bytes(text, sections->data, sections->size);
    if (text->status != CW_OK)
        return cw_error_nomem(err);
    return cw_file_write(o->output ? o->output : "/dev/stdout", text->data, text->size, err);
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        option_list,
        parse,
        "",
        "Writes the database of a chip from what NVIDIA's host library tells. No GPU is needed.\v"
        "Example:\n  metricdb-import --chip GH100 --evidence run.cd -o gh100.yaml",
        NULL,
        NULL,
        NULL};
    struct options options = {0};
    cw_cli_init();
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    struct cw_error err = CW_ERROR_INIT;
    struct cw_writer text, sections;
    cw_writer_init(&text);
    cw_writer_init(&sections);
    struct cw_arena *arena = cw_arena_create();
    enum cw_status status = arena ? run(&options, arena, &text, &sections, &err) : cw_error_nomem(&err);
    cw_writer_free(&text);
    cw_writer_free(&sections);
    cw_arena_destroy(arena);
    return status == CW_OK ? 0 : cw_cli_fail(&err);
}
