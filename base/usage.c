#define _GNU_SOURCE
#include "base/usage.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { LONGEST_MESSAGE = 1200 };

/* Whether the name of an option is plain: "--name" up to its value, or one letter. */
static bool is_plain(const char *argument, size_t length)
{
    char shown[LONGEST_MESSAGE];
    cw_text_format(shown, sizeof shown, "%.*s", (int)length, argument);
    return strlen(shown) == length && memcmp(shown, argument, length) == 0;
}

/* The C library's own messages about options would show the name as it is. */
static void check_option(const struct argp *argp, char **argv, const char *argument)
{
    size_t length = strncmp(argument, "--", 2) == 0 ? strcspn(argument, "=") : strnlen(argument, 2);
    char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
    if (*argument != '-' || is_plain(argument, length))
        return;
    cw_text_print(stderr, "%s: found the option '%.*s', expected another\n", name, (int)length, argument);
    argp_help(argp, stderr, ARGP_HELP_SEE, name);
    exit(argp_err_exit_status);
}

void cw_usage_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        check_option(argp, argv, argv[i]);
    argp_parse(argp, argc, argv, flags, NULL, input);
}

void cw_usage_error(const struct argp_state *state, const char *format, ...)
{
    char message[LONGEST_MESSAGE];
    va_list args;
    va_start(args, format);
    cw_text_vformat(message, sizeof message, format, args);
    va_end(args);
    argp_error(state, "%s", message);
}
