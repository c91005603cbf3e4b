#include <argp.h>

#include "agent/command/command.h"
#include "agent/command/decode.h"
#include "base/usage.h"

enum { KEY_NATIVE = 256, KEY_CHIP };

static const struct argp_option decode_options[] = {
    {"native", KEY_NATIVE, "FILE", 0, "NVIDIA's counter data (range --keep-native)", 0},
    {"metrics", 'm', "A,B,...", 0, "the counters to take (default: every one)", 0},
    {"chip", KEY_CHIP, "NAME", 0, "the chip it is from (default: GH100)", 0},
    {"output", 'o', "RUN.cwd", 0, "where to write the counter data", 0},
    {0},
};

static error_t parse_decode(int key, char *arg, struct argp_state *state)
{
    struct cw_decode_options *o = state->input;
    switch (key) {
    case KEY_NATIVE:
        o->native = arg;
        return 0;
    case 'm':
        o->metrics = arg;
        return 0;
    case KEY_CHIP:
        o->chip = arg;
        return 0;
    case 'o':
        o->output = arg;
        return 0;
    case ARGP_KEY_ARG:
        cw_usage_error(state, "found '%s', expected only options", arg);
        return 0;
    case ARGP_KEY_END:
        if (!o->native || !o->output)
            cw_usage_error(state, "--native FILE and -o RUN.cwd are required");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cw_decode_command(int argc, char **argv)
{
    static const struct argp argp = {
        decode_options,
        parse_decode,
        "",
        "Turns NVIDIA's counter data into counter data that metric-eval reads. Needs their "
        "host library, but no GPU.\v"
        "Example:\n  capture-agent decode --native run.cd -o run.cwd",
        NULL,
        NULL,
        NULL};
    struct cw_decode_options options = {.chip = "GH100"};
    cw_usage_parse(&argp, argc, argv, 0, &options);
    struct cw_error err = CW_ERROR_INIT;
    return cw_decode(&options, &err) == CW_OK ? 0 : cw_command_fail(&err);
}
