#include "base/start.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

void cw_start(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0) /* opened for the opposite direction, so that its use still fails */
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    signal(SIGXFSZ, SIG_IGN);
    static char line[4096];
    setvbuf(stderr, line, _IOLBF, sizeof line);
}
