/* What a command does before anything else. */
#ifndef CW_BASE_START_H
#define CW_BASE_START_H

/* A file is never opened as standard input, output or error, even where the process was started without them: what is
 * printed would be written into it. A limit on file sizes is an error of the write, not the end of the process. */
void cw_start(void);

#endif
