/* Commands that are programs of their own. */
#ifndef CW_CLI_FRONT_BESIDE_H
#define CW_CLI_FRONT_BESIDE_H

#include <stddef.h>

/* Finds the folder of this program; "" where the system does not tell. */
void cw_front_folder(char *folder, size_t size);

/* Runs a program in place of this one: the one beside it in its folder, else the one in PATH. argv[0] names the command
 * in the program's messages, and `command` becomes its first word, unless it is NULL. Returns an exit status if there
 * is no such program, after an error that says what `has` it. */
int cw_front_become(const char *program, const char *has, const char *command, int argc, char **argv);

#endif
