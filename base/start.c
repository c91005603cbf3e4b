#include "base/start.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

void cw_start(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0) /* the other way round, so that its use goes on to fail */
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    signal(SIGXFSZ, SIG_IGN);
}
