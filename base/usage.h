/* Reads command lines by tables of options. Shows their text escaped as in base/text.h. */
#ifndef CW_BASE_USAGE_H
#define CW_BASE_USAGE_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* How an option is stored in the options of its command. Write rows with the macros below. */
enum cw_option_kind {
    CW_OPTION__END, /* after the last row */
    CW_OPTION__TEXT,
    CW_OPTION__FLAG,
    CW_OPTION__NUMBER,
    CW_OPTION__CHOICE,
    CW_OPTION__LIST,
    CW_OPTION__TAKE,
    CW_OPTION__WORDS,
    CW_OPTION__PROGRAM,
    CW_OPTION__GROUP,
    CW_OPTION__CHECK
};

/* A row of a command's options: {"name", letter or 0, "VALUE" or NULL, "help", macro}. A row without a name is {macro}:
 * further rows, the words that are no options (without such a row a command takes none), or a check at the end. */
struct cw_option {
    const char *name;
    int letter;
    const char *value, *help;
    const char *called; /* the name in messages that do not say "--name": "the format", "files of metrics" */
    enum cw_option_kind kind;
    size_t at, size, count_at; /* offset and size of the member in the command's options, offset of its count */
    uint64_t least, most, unit;
    void (*take)(void *to, char *text, struct argp_state *state);
    void (*check)(void *options, struct argp_state *state);
    const struct cw_option *group;
    bool optional; /* --name without a value is allowed: the text is NULL */
    bool has_all;  /* a number may be "all": the greatest */
    bool rare;     /* --help=all shows it, and --help does not; of a group: all its rows */
};

/* Goes before the macro of a row: {"name", 0, "N", "help", CW_OPTION_RARE, CW_OPTION_NUMBER(...)}. */
#define CW_OPTION_RARE .rare = true
/* Goes before CW_OPTION_NUMBER: "all" stands for the greatest number. */
#define CW_OPTION_OR_ALL .has_all = true
#define CW_OPTION__AT(type, member) .at = offsetof(type, member), .size = sizeof(((type *)0)->member)
/* A const char *: borrowed from the command line. */
#define CW_OPTION_TEXT(type, member) .kind = CW_OPTION__TEXT, CW_OPTION__AT(type, member)
/* A bool that becomes true. */
#define CW_OPTION_FLAG(type, member) .kind = CW_OPTION__FLAG, CW_OPTION__AT(type, member)
/* An unsigned integer: a whole number from `min` to `max`, times `one`. */
#define CW_OPTION_NUMBER(type, member, min, max) CW_OPTION_UNITS(type, member, min, max, 1)
#define CW_OPTION_UNITS(type, member, min, max, one)                                                                   \
    .kind = CW_OPTION__NUMBER, CW_OPTION__AT(type, member), .least = (min), .most = (max), .unit = (one)
/* An enum, an unsigned integer or a bool: the index, from 0, of the text among the words of "VALUE", as "yes|no". */
#define CW_OPTION_CHOICE(type, member) .kind = CW_OPTION__CHOICE, CW_OPTION__AT(type, member)
/* An array of const char *, and a size_t that counts them: the option may be repeated. For words, .called names
 * them. */
#define CW_OPTION_LIST(type, member, count)                                                                            \
    .kind = CW_OPTION__LIST, CW_OPTION__AT(type, member), .count_at = offsetof(type, count)
/* The function reads the text; it gets the member, or the command's options. */
#define CW_OPTION_READ(type, member, function) .kind = CW_OPTION__TAKE, CW_OPTION__AT(type, member), .take = (function)
#define CW_OPTION_TAKE(function) .kind = CW_OPTION__TAKE, .take = (function)
/* The rows of a struct inside the command's options, or further rows of the same struct. */
#define CW_OPTION_GROUP(type, member, rows) .kind = CW_OPTION__GROUP, CW_OPTION__AT(type, member), .group = (rows)
#define CW_OPTION_ROWS(rows) .kind = CW_OPTION__GROUP, .group = (rows)
/* A char *const *, and a size_t that counts them: all words that are no options. */
#define CW_OPTION_WORDS(type, member, count)                                                                           \
    .kind = CW_OPTION__WORDS, CW_OPTION__AT(type, member), .count_at = offsetof(type, count)
/* A char *const *: options end at the first word that is none; that word and the rest are a program and its
 * arguments. */
#define CW_OPTION_PROGRAM(type, member) .kind = CW_OPTION__PROGRAM, CW_OPTION__AT(type, member)

/* Called after the last word, in the order of the rows. */
#define CW_OPTION_CHECK(function) .kind = CW_OPTION__CHECK, .check = (function)

struct cw_usage {
    const struct cw_option *options; /* NULL: none */
    const char *words;               /* words beside options, a line for each form, as "-- PROGRAM" */
    /* Purpose of the command, "\v", and the text that --help shows after the options. "$0" in it stands for the name
     * that the command was called by. */
    const char *help;
    const struct cw_usage_command *commands; /* its sub-commands; --help lists them before the text after "\v" */
    size_t command_count;
    const char *elsewhere; /* options that another command has, and that command: "--kind: counterworks table" with a
                              newline after each; NULL: none */
};

/* A row of a command's sub-commands: "metric-query list". */
struct cw_usage_command {
    const char *name, *summary;        /* the summary is one line of the command's --help */
    int (*run)(int argc, char **argv); /* argv[0] is "command sub-command"; returns the exit status */
    const char *group;                 /* a heading of at most 9 letters; NULL: the group of the row before */
    bool rare;                         /* --help=all lists it, and --help does not */
};

/* Reads the command line into `options`. Ends the program with a usage error after a mistake, and after an option whose
 * name is not plain text. */
void cw_usage_read(const struct cw_usage *usage, int argc, char **argv, void *options);

/* Runs the sub-command that argv names, and answers --help, --help=all, help COMMAND, --version and a misspelt name;
 * `about` is the purpose of the command and `example` a line to type, or NULL. Returns the exit status. The caller
 * checks whether all output was written. */
int cw_usage_run(int argc, char **argv, const struct cw_usage_command *table, size_t count, const char *about,
                 const char *example);
/* Runs the sub-command that argv names first, or `otherwise` if it names none. A word that is no file but close to a
 * sub-command is an error of usage. Returns the exit status. */
int cw_usage_run_or(int argc, char **argv, const struct cw_usage_command *table, size_t count,
                    int (*otherwise)(int argc, char **argv));

/* Prints "program: message" as one line on standard error. Returns the error's code, which is the exit status. */
int cw_usage_fail(const struct cw_error *err);

/* Prints the message and how to get help, as argp_error does, and ends the program with the usage status. */
void cw_usage_error(const struct argp_state *state, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
