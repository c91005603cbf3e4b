#define _GNU_SOURCE
#include "base/usage.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/suggest.h"
#include "base/text.h"

enum { LONGEST_MESSAGE = 1200, LONGEST_NAME = 64 };

/* Whether the name of an option is plain text: "--name" up to its value, or one letter. */
static bool is_plain(const char *argument, size_t length)
{
    char shown[LONGEST_MESSAGE];
    cw_text_format(shown, sizeof shown, "%.*s", (int)length, argument);
    return strlen(shown) == length && memcmp(shown, argument, length) == 0;
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

/* ---- options that set members ----------------------------------------------------------------------------------- */

enum { FIRST_KEY = 256, MOST_OPTIONS = 64, MOST_CHECKS = 8, KEY_USAGE = FIRST_KEY + MOST_OPTIONS, KEY_HELP = '?' };

/* --help and --version, behind the options of each command. */
static const struct argp_option own_options[] = {
    {"help", KEY_HELP, "all", OPTION_ARG_OPTIONAL, "Explain the command; all: with rare options", -1},
    {"usage", KEY_USAGE, NULL, OPTION_HIDDEN, "Give a short usage message", -1},
    {"version", 'V', NULL, 0, "Print program version", -1},
};
enum { OWN_OPTIONS = sizeof own_options / sizeof *own_options };

/* The rows of a command and of its groups, each with the struct that it sets. */
struct parsing {
    const struct cw_usage *usage;
    struct argp root;
    char *help; /* its text, once it was asked for */
    int rare_count;
    struct bound {
        const struct cw_option *option;
        unsigned char *base;
    } bound[MOST_OPTIONS], checks[MOST_CHECKS], words;
    struct argp_option argp[MOST_OPTIONS + OWN_OPTIONS + 1]; /* each in the same place as its row in `bound` */
    int count, check_count;
};

static void bind_option(struct parsing *p, const struct cw_option *o, unsigned char *base, bool rare)
{
    assert(p->count < MOST_OPTIONS);
    p->bound[p->count] = (struct bound){o, base};
    p->argp[p->count] =
        (struct argp_option){.name = o->name,
                             .key = o->letter ? o->letter : FIRST_KEY + p->count,
                             .arg = o->value,
                             .flags = (o->optional ? OPTION_ARG_OPTIONAL : 0) | (rare ? OPTION_HIDDEN : 0),
                             .doc = o->help};
    p->count++;
    p->rare_count += rare;
}

static void bind_rows(struct parsing *p, const struct cw_option *rows, unsigned char *base, bool rare)
{
    for (const struct cw_option *o = rows; rows && o->kind != CW_OPTION__END; o++)
        if (o->kind == CW_OPTION__GROUP) {
            bind_rows(p, o->group, base + o->at, rare || o->rare);
        } else if (o->kind == CW_OPTION__CHECK) {
            assert(p->check_count < MOST_CHECKS);
            p->checks[p->check_count++] = (struct bound){o, base};
        } else if (!o->name) {
            p->words = (struct bound){o, base};
        } else {
            bind_option(p, o, base, rare || o->rare);
        }
}

static void store_number(const struct bound *b, uint64_t value)
{
    void *at = b->base + b->option->at;
    switch (b->option->size) {
    case sizeof(uint8_t):
        *(uint8_t *)at = (uint8_t)value;
        return;
    case sizeof(uint32_t):
        *(uint32_t *)at = (uint32_t)value;
        return;
    default:
        assert(b->option->size == sizeof(uint64_t));
        *(uint64_t *)at = value;
    }
}

static uint64_t read_number(const struct cw_option *o, const char *text, const struct argp_state *state)
{
    char *end, from[32] = "up";
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && !*end && !errno && value >= o->least && value <= o->most)
        return value * o->unit;
    if (o->has_all && strcmp(text, "all") == 0)
        return o->most * o->unit;
    if (o->least)
        snprintf(from, sizeof from, "from %" PRIu64, o->least);
    cw_usage_error(state, "found --%s '%s', expected a whole number %s to %" PRIu64 "%s", o->name, text, from, o->most,
                   o->has_all ? ", or all" : "");
    return 0;
}

/* Index of the text among the words that `o->value` lists. */
static uint64_t read_choice(const struct cw_option *o, const char *text, const struct argp_state *state)
{
    char all[128] = "";
    size_t used = 0, place = 0;
    for (const char *word = o->value; *word; place++) {
        size_t length = strcspn(word, "|");
        if (strlen(text) == length && strncmp(word, text, length) == 0)
            return place;
        const char *gap = !place ? "" : word[length] ? ", " : " or ";
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%.*s", gap, (int)length, word);
        assert(used < sizeof all);
        word += length + (word[length] == '|');
    }
    cw_usage_error(state, "found %s%s '%s', expected %s", o->called ? "" : "--", o->called ? o->called : o->name, text,
                   all);
    return 0;
}

static void append(const struct bound *b, const char *text, const struct argp_state *state)
{
    const struct cw_option *o = b->option;
    const char **list = (void *)(b->base + o->at);
    size_t *count = (void *)(b->base + o->count_at), most = o->size / sizeof *list;
    if (*count == most)
        cw_usage_error(state, "found more than %zu %s%s", most, o->called ? "" : "--", o->called ? o->called : o->name);
    list[(*count)++] = text;
}

static void store(const struct bound *b, char *text, struct argp_state *state)
{
    const struct cw_option *o = b->option;
    switch (o->kind) {
    case CW_OPTION__TEXT:
        *(const char **)(void *)(b->base + o->at) = text;
        return;
    case CW_OPTION__FLAG:
        *(bool *)(b->base + o->at) = true;
        return;
    case CW_OPTION__NUMBER:
        store_number(b, read_number(o, text, state));
        return;
    case CW_OPTION__CHOICE:
        store_number(b, read_choice(o, text, state));
        return;
    case CW_OPTION__LIST:
        append(b, text, state);
        return;
    default:
        o->take(b->base + o->at, text, state);
    }
}

static void store_words(const struct bound *b, const struct argp_state *state)
{
    *(char *const **)(void *)(b->base + b->option->at) = state->argv + state->next;
    if (b->option->kind == CW_OPTION__WORDS)
        *(size_t *)(void *)(b->base + b->option->count_at) = (size_t)(state->argc - state->next);
}

static error_t parse_word(const struct parsing *p, char *text, struct argp_state *state)
{
    const struct cw_option *words = p->words.option;
    if (!words)
        cw_usage_error(state, "found '%s', expected only options", text);
    else if (words->kind == CW_OPTION__WORDS || words->kind == CW_OPTION__PROGRAM)
        return ARGP_ERR_UNKNOWN; /* argp then passes all of them with ARGP_KEY_ARGS */
    else
        store(&p->words, text, state);
    return 0;
}

/* ---- --help ------------------------------------------------------------------------------------------------------ */

static int count_rare(const struct cw_usage_command *table, size_t count)
{
    int rare = 0;
    for (size_t i = 0; i < count; i++)
        rare += table[i].rare;
    return rare;
}

/* Prints rows of commands; those of groups stand beside the group's name. */
static void print_table(FILE *out, const struct cw_usage_command *table, size_t count, bool all)
{
    const char *group = NULL;
    for (size_t i = 0; i < count; i++) {
        group = table[i].group ? table[i].group : group;
        if (table[i].rare && !all)
            continue;
        if (table[0].group)
            cw_text_print(out, "%-9s %-9s %s\n", group ? group : "", table[i].name, table[i].summary);
        else
            cw_text_print(out, "  %-10s %s\n", table[i].name, table[i].summary);
        group = group ? "" : NULL;
    }
}

/* Prints `length` bytes of a text, with the command's name where it says "$0". */
static void put_named(FILE *out, const char *text, size_t length, const char *name)
{
    for (const char *end = text + length, *at; text < end; text = at + 2) {
        at = memmem(text, (size_t)(end - text), "$0", 2);
        fwrite(text, 1, (size_t)((at ? at : end) - text), out);
        if (!at)
            return;
        cw_text_print(out, "%s", name);
    }
}

/* The help text with the list of sub-commands, in malloc memory, or NULL when out of memory. */
static char *make_help(const struct parsing *p, const char *name, bool all)
{
    const struct cw_usage *usage = p->usage;
    const size_t before = strcspn(usage->help, "\v"), length = strlen(usage->help);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    put_named(out, usage->help, before, name);
    putc('\v', out);
    if (usage->command_count) {
        fputs("Commands:\n", out);
        print_table(out, usage->commands, usage->command_count, all);
        putc('\n', out);
    }
    if (p->rare_count && !all)
        cw_text_print(out, "\"%s --help=all\" also shows %d rarely used option%s.\n\n", name, p->rare_count,
                      p->rare_count == 1 ? "" : "s");
    if (before < length)
        put_named(out, usage->help + before + 1, length - before - 1, name);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static void print_help(struct parsing *p, const char *text, struct argp_state *state)
{
    const bool all = text && strcmp(text, "all") == 0;
    if (text && !all)
        cw_usage_error(state, "found --help '%s', expected all", text);
    for (int i = 0; all && i < p->count + OWN_OPTIONS; i++)
        p->argp[i].flags &= ~OPTION_HIDDEN;
    p->help = make_help(p, state->name, all);
    p->root.doc = p->help ? p->help : p->usage->help;
    argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
}

/* Options that every command has. */
static bool parse_own(struct parsing *p, int key, const char *text, struct argp_state *state)
{
    if (key == KEY_HELP)
        print_help(p, text, state);
    else if (key == KEY_USAGE)
        argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
    else if (key == 'V')
        cw_text_print(stdout, "%s\n", argp_program_version);
    if (key == 'V')
        exit(0);
    return key == KEY_HELP || key == KEY_USAGE;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct parsing *p = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        return parse_word(p, text, state);
    case ARGP_KEY_ARGS:
        store_words(&p->words, state);
        return 0;
    case ARGP_KEY_END:
        for (int i = 0; i < p->check_count; i++)
            p->checks[i].option->check(p->checks[i].base, state);
        return 0;
    }
    for (int i = 0; i < p->count; i++)
        if (p->argp[i].key == key) {
            store(&p->bound[i], text, state);
            return 0;
        }
    return parse_own(p, key, text, state) ? 0 : ARGP_ERR_UNKNOWN;
}

/* ---- options that nobody knows ----------------------------------------------------------------------------------- */

/* The option of a letter, or the only one whose name begins so; NULL: none. *count gets the number of such options. */
static const struct argp_option *find_option(const struct parsing *p, const char *name, size_t length, int *count)
{
    const struct argp_option *found = NULL;
    *count = 0;
    for (const struct argp_option *o = p->argp; o->name; o++) {
        if (strncmp(o->name, name, length) != 0)
            continue;
        found = o;
        *count += 1;
        if (!o->name[length]) {
            *count = 1;
            break;
        }
    }
    return *count == 1 ? found : NULL;
}

static const struct argp_option *find_letter(const struct parsing *p, char letter)
{
    const struct argp_option *o = p->argp;
    while (o->name && o->key != letter)
        o++;
    return o->name ? o : NULL;
}

/* The command that has the option, to the end of the line; NULL: none. */
static const char *find_elsewhere(const char *lines, const char *option, size_t length)
{
    for (const char *at = lines; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
        if (strncmp(at, option, length) == 0 && strncmp(at + length, ": ", 2) == 0)
            return at + length + 2;
    return NULL;
}

static void refuse_option(const struct parsing *p, char **argv, const char *argument, size_t length)
{
    char wanted[LONGEST_NAME] = "", names[MOST_OPTIONS + OWN_OPTIONS][LONGEST_NAME], text[LONGEST_MESSAGE];
    char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
    struct cw_suggest near;
    if (length < sizeof wanted)
        memcpy(wanted, argument, length);
    cw_suggest_init(&near, wanted);
    for (int i = 0; p->argp[i].name; i++) {
        snprintf(names[i], sizeof names[i], "--%s", p->argp[i].name);
        cw_suggest_offer(&near, names[i]);
    }
    const char *has = find_elsewhere(p->usage->elsewhere, argument, length);
    if (has)
        cw_text_print(stderr, "%s: found the option '%.*s', which %.*s has\n", name, (int)length, argument,
                      (int)strcspn(has, "\n"), has);
    else
        cw_text_print(stderr, "%s: found the option '%.*s', expected another%s\n", name, (int)length, argument,
                      cw_suggest_text(&near, text, sizeof text));
    argp_help(&p->root, stderr, ARGP_HELP_SEE, name);
    exit(argp_err_exit_status);
}

/* Checks an option before argp does: the C library's own messages would show the name unescaped, and none that is near.
 * Returns whether the next argument is its value. */
static bool check_option(const struct parsing *p, char **argv, const char *argument)
{
    const bool whole = strncmp(argument, "--", 2) == 0;
    const size_t length = whole ? strcspn(argument, "=") : strnlen(argument, 2);
    int count = 1;
    const struct argp_option *o = whole ? find_option(p, argument + 2, length - 2, &count) : NULL;
    if (!is_plain(argument, length) || !count || (!whole && !find_letter(p, argument[1])))
        refuse_option(p, argv, argument, length);
    const char *rest = whole ? argument + length : argument + 1;
    while (!whole && *rest && (o = find_letter(p, *rest++)) && !o->arg)
        ;
    return o && o->arg && !(o->flags & OPTION_ARG_OPTIONAL) && !*rest;
}

/* Checks options, up to the first word if a program begins there. -h is --help where no option has the letter. */
static void check_options(const struct parsing *p, int argc, char **argv, bool program)
{
    static char help[] = "--help";
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "-h") == 0 && !find_letter(p, 'h'))
            argv[i] = help;
        else if (argv[i][0] == '-' && argv[i][1])
            i += check_option(p, argv, argv[i]);
        else if (program)
            return;
}

void cw_usage_read(const struct cw_usage *usage, int argc, char **argv, void *options)
{
    struct parsing p = {.usage = usage};
    bind_rows(&p, usage->options, options, false);
    memcpy(p.argp + p.count, own_options, sizeof own_options);
    p.root = (struct argp){p.argp, parse, usage->words, usage->help, NULL, NULL, NULL};
    bool program = p.words.option && p.words.option->kind == CW_OPTION__PROGRAM;
    check_options(&p, argc, argv, program);
    if (argp_parse(&p.root, argc, argv, ARGP_NO_HELP | (program ? ARGP_IN_ORDER : 0), NULL, &p) != 0) {
        struct cw_error err = CW_ERROR_INIT;
        exit(cw_usage_fail((cw_error_nomem(&err), &err)));
    }
}

/* ---- sub-commands ------------------------------------------------------------------------------------------------ */

int cw_usage_fail(const struct cw_error *err)
{
    char text[LONGEST_MESSAGE];
    cw_text_print(stderr, "%s: %s\n", program_invocation_short_name, cw_error_format(err, text, sizeof text));
    return err->code;
}

static void print_commands(const struct cw_usage_command *table, size_t count, const char *about, const char *example,
                           bool all)
{
    const char *name = program_invocation_short_name;
    const int rare = all ? 0 : count_rare(table, count);
    cw_text_print(stdout, "Usage: %s COMMAND [OPTION...]\n%s\n\n", name, about);
    if (!table[0].group)
        puts("Commands:");
    print_table(stdout, table, count, all);
    if (example)
        cw_text_print(stdout, "\nExample:\n  %s\n", example);
    cw_text_print(stdout, "\n\"%s COMMAND --help\" explains a command", name);
    if (rare)
        cw_text_print(stdout, "; --help=all lists %d more", rare);
    puts(".");
}

static int unknown_command(const char *wanted, const struct cw_usage_command *table, size_t count)
{
    struct cw_suggest near;
    struct cw_error err = CW_ERROR_INIT;
    char text[256], all[512] = "";
    size_t used = 0;
    cw_suggest_init(&near, wanted);
    for (size_t i = 0; i < count; i++) {
        cw_suggest_offer(&near, table[i].name);
        if (used < sizeof all && !table[0].group)
            used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? i + 1 == count ? " or " : ", " : "",
                                     table[i].name);
    }
    if (table[0].group) /* a long table */
        snprintf(all, sizeof all, "one that %s --help lists", program_invocation_short_name);
    cw_error_set(&err, CW_ERR_USAGE, "found the command '%.60s', expected %s%s", wanted, all,
                 cw_suggest_text(&near, text, sizeof text));
    return cw_usage_fail(&err);
}

static const struct cw_usage_command *find_command(const char *wanted, const struct cw_usage_command *table,
                                                   size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(wanted, table[i].name) == 0)
            return &table[i];
    return NULL;
}

static int run_command(const struct cw_usage_command *command, int argc, char **argv)
{
    static char name[256];                                                 /* argp's name for the program in messages */
    const bool whole = strchr(program_invocation_short_name, ' ') != NULL; /* a front door named it in argv[0] */
    snprintf(name, sizeof name, "%s%s%s", program_invocation_short_name, whole ? "" : " ", whole ? "" : command->name);
    argv[1] = name;
    return command->run(argc - 1, argv + 1);
}

/* Whether a word that names no file is close to the name of a command. */
static bool is_misspelt(const char *word, const struct cw_usage_command *table, size_t count)
{
    struct cw_suggest near;
    if (word[strspn(word, "abcdefghijklmnopqrstuvwxyz")] || access(word, F_OK) == 0)
        return false;
    cw_suggest_init(&near, word);
    for (size_t i = 0; i < count; i++)
        cw_suggest_offer(&near, table[i].name);
    return near.count > 0;
}

/* Turns "help COMMAND" into "COMMAND --help". */
static void turn_help(int argc, char **argv, const struct cw_usage_command *table, size_t count)
{
    static char help[] = "--help";
    if (argc == 3 && strcmp(argv[1], "help") == 0 && find_command(argv[2], table, count)) {
        argv[1] = argv[2];
        argv[2] = help;
    }
}

int cw_usage_run_or(int argc, char **argv, const struct cw_usage_command *table, size_t count,
                    int (*otherwise)(int argc, char **argv))
{
    turn_help(argc, argv, table, count);
    const struct cw_usage_command *command = argc > 1 ? find_command(argv[1], table, count) : NULL;
    if (command)
        return run_command(command, argc, argv);
    return argc > 2 && is_misspelt(argv[1], table, count) ? unknown_command(argv[1], table, count)
                                                          : otherwise(argc, argv);
}

int cw_usage_run(int argc, char **argv, const struct cw_usage_command *table, size_t count, const char *about,
                 const char *example)
{
    const char *wanted = argc > 1 ? argv[1] : "";
    struct cw_error err = CW_ERROR_INIT;
    if (!*wanted) {
        cw_error_set(&err, CW_ERR_USAGE, "found no command; %s --help lists them", program_invocation_short_name);
        return cw_usage_fail(&err);
    }
    turn_help(argc, argv, table, count);
    const struct cw_usage_command *command = find_command(argv[1], table, count);
    if (command)
        return run_command(command, argc, argv);
    const bool all = strcmp(wanted, "--help=all") == 0;
    if (all || strcmp(wanted, "--help") == 0 || strcmp(wanted, "-h") == 0 || strcmp(wanted, "-?") == 0 ||
        (strcmp(wanted, "help") == 0 && (argc != 3 || *argv[2] == '-')))
        print_commands(table, count, about, example, all);
    else if (strcmp(wanted, "--version") == 0 || strcmp(wanted, "-V") == 0)
        cw_text_print(stdout, "%s\n", argp_program_version);
    else
        return unknown_command(strcmp(wanted, "help") == 0 ? argv[2] : wanted, table, count);
    return 0;
}
