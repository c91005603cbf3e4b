/* The sampling process. One thread moves samples from the hardware into images, another turns images into columns. The
 * number of images between them is limited, so that memory stays bounded. (The first thread needs about twice the
 * second's time per sample, so more threads would not help.) */
#define _GNU_SOURCE
#include "agent/backend/cupti/pm_sampler.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/backend/cupti/pm_process.h"
#include "agent/backend/pm_capture.h"
#include "agent/session/signals.h"

static void send_ready(void)
{
    char pci[32] = "";
    struct cw_writer out;
    cw_writer_init(&out);
    if (cw_pm_process.api.cuDeviceGetPCIBusId(pci, sizeof pci, (CUdevice)cw_pm_process.device) != CUDA_SUCCESS)
        pci[0] = 0;
    cw_write_string(&out, pci);
    cw_pm_need(out.status == CW_OK);
    cw_pm_send(CW_MESSAGE_READY, out.data, out.size);
    cw_writer_free(&out);
}

__attribute__((noreturn)) static void sample(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    cw_signals_ignore();
    cw_pm_load();
    cw_pm_correlate();
    cw_pm_choose();
    cw_pm_begin_images();
    if (!cw_pm_by_program(cw_pm_process.options)) /* each range opens a window */
        cw_pm_start();
    send_ready();
    cw_pm_collect();
    bool good = cw_pm_end_images();
    cw_pm_correlate();
    cw_pm_disarm();
    if (!good)
        cw_pm_give_up(CW_ERR_DEVICE, "the hardware's buffer was full before a sample could be decoded: a longer "
                                     "--interval, fewer counters or a larger --buffer helps");
    cw_pm_send(CW_MESSAGE_DONE, "", 0);
    _exit(0);
}

enum cw_status cw_pm_sampler_start(struct cw_pm_sampler *sampler, const struct cw_pm_options *options, uint32_t device,
                                   const struct cw_schema *schema, const struct cw_writer *native,
                                   const struct cw_node_facts *node, struct cw_error *err)
{
    int ends[2];
    sampler->device = device;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return cw_error_set(err, CW_ERR_IO, "cannot create a pair of sockets: %s", strerror(errno));
    fflush(NULL);
    sampler->pid = fork();
    if (sampler->pid == 0) {
        close(ends[0]);
        cw_pm_process.options = options;
        cw_pm_process.device = device;
        cw_pm_process.schema = schema;
        cw_pm_process.native = native;
        cw_pm_process.node = node;
        cw_pm_process.fd = ends[1];
        sample();
    }
    close(ends[1]);
    sampler->fd = ends[0];
    if (sampler->pid > 0)
        return CW_OK;
    close(ends[0]);
    return cw_error_set(err, CW_ERR_IO, "cannot start the sampling process: %s", strerror(errno));
}

bool cw_pm_sampler_window(struct cw_pm_sampler *sampler, bool open)
{
    const char order = open;
    return send(sampler->fd, &order, 1, MSG_NOSIGNAL) == 1;
}

void cw_pm_sampler_stop(struct cw_pm_sampler *sampler)
{
    shutdown(sampler->fd, SHUT_WR);
}

enum cw_status cw_pm_sampler_finish(struct cw_pm_sampler *sampler, struct cw_error *err)
{
    int how = 0;
    shutdown(sampler->fd, SHUT_RDWR); /* close() alone would not stop its sending: later samplers hold copies */
    close(sampler->fd);
    while (waitpid(sampler->pid, &how, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(how))
        return cw_error_set(err, CW_ERR_DEVICE,
                            "GPU %u: the sampling process was killed by signal %d; complete data is kept",
                            sampler->device, WTERMSIG(how));
    if (WEXITSTATUS(how))
        return cw_error_set(err, CW_ERR_DEVICE,
                            "GPU %u: the sampling process ended with status %d; complete data is kept", sampler->device,
                            WEXITSTATUS(how));
    return CW_OK;
}
