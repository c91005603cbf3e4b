/* Commands of a shell, as a person would type them. */
#ifndef CW_CLI_FRONT_SHELL_H
#define CW_CLI_FRONT_SHELL_H

#include <stdbool.h>
#include <stdio.h>

/* Writes a space and the word, with quotes where a shell needs them. */
void cw_shell_put(FILE *line, const char *word);

/* Prints "$ LINE" on standard error, unless `quiet`, and runs the line, which is one command, with sh. The folder of
 * this program comes first in PATH. Ctrl-C reaches the line's processes alone; SIGTERM and SIGHUP are passed on to the
 * first of them. Returns the exit status: 128 and the signal's number for a killed process, 127 if there is no shell.
 */
int cw_shell_run(const char *line, bool quiet);
/* Does the same with a line that may be several commands, and stores the first line of its standard output, without the
 * end of the line. */
int cw_shell_ask(const char *line, bool quiet, char *answer, size_t size);

#endif
