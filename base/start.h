/* First step of every command. */
#ifndef CW_BASE_START_H
#define CW_BASE_START_H

/* Opens /dev/null for standard input, output and error if the process was started without them: otherwise a file could
 * get such a descriptor, and printed text would go into the file. Makes a limit on file sizes an error of the write,
 * not the end of the process. Writes lines to standard error as a whole, so that lines of several ranks do not mix. */
void cw_start(void);

#endif
