/* Traces a program on real GPUs: the injection library sends rows as chunks, which are checked and written. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "agent/backend/cupti/check.h"
#include "agent/backend/cupti/cupti.h"
#include "agent/backend/cupti/traced.h"
#include "agent/backend/trace_capture.h"
#include "agent/session/signals.h"

struct capture {
    const struct cw_trace_options *options;
    struct cw_arena *arena;
    struct cw_trace_output out;
    struct cw_traced traced;
    struct cw_session session;
    struct cw_clock_log clocks;
    struct cw_filter filter; /* selects processes and devices */
    uint64_t began_ns;
    uint64_t read_ns; /* time of the last reading of the environment */
};

static enum cw_status take(void *user, const struct cw_process *p, enum cw_message_type type, struct cw_reader *in,
                           struct cw_error *err)
{
    struct capture *c = user;
    return cw_traced_take(&c->traced, p, type, in, err);
}

/* ---- beside the program ----------------------------------------------------------------------------------------- */

static uint64_t or_unknown(unsigned value)
{
    return value == UINT_MAX ? CW_TRACE_UNKNOWN : value;
}

static uint64_t environment_field(const struct cw_gpu_environment *e, uint32_t device, enum cw_trace_field field)
{
    switch (field) {
    case CW_FIELD_TIME:
        return e->clock.wall_ns;
    case CW_FIELD_DEVICE:
        return device;
    case CW_FIELD_SM_CLOCK:
        return e->clock.sm_mhz ? e->clock.sm_mhz : CW_TRACE_UNKNOWN;
    case CW_FIELD_MEMORY_CLOCK:
        return e->clock.memory_mhz ? e->clock.memory_mhz : CW_TRACE_UNKNOWN;
    case CW_FIELD_THROTTLE:
        return e->clock.limits;
    case CW_FIELD_TEMPERATURE:
        return or_unknown(e->temperature);
    case CW_FIELD_POWER:
        return or_unknown(e->power);
    case CW_FIELD_POWER_LIMIT:
        return or_unknown(e->power_limit);
    case CW_FIELD_FAN:
        return or_unknown(e->fan);
    case CW_FIELD_PCIE_GENERATION:
        return or_unknown(e->pcie_generation);
    case CW_FIELD_PCIE_WIDTH:
        return or_unknown(e->pcie_width);
    default:
        return CW_TRACE_UNKNOWN;
    }
}

static enum cw_status write_environment(struct capture *c, uint32_t process, uint32_t device,
                                        const struct cw_gpu_environment *e, struct cw_error *err)
{
    const struct cw_trace_kind_info *kind = &cw_trace_kinds[CW_TRACE_ENVIRONMENT];
    uint64_t values[CW_TRACE_KIND_FIELDS_MAX];
    const uint64_t *columns[CW_TRACE_KIND_FIELDS_MAX];
    for (uint32_t f = 0; f < kind->field_count; f++) {
        values[f] = environment_field(e, device, (enum cw_trace_field)kind->fields[f]);
        columns[f] = &values[f];
    }
    return cw_trace_output_rows(&c->out, process, CW_TRACE_ENVIRONMENT, 1, columns, err);
}

/* Whether an earlier process uses the same GPU. */
static bool is_read_before(const struct capture *c, uint32_t process, const char *pci)
{
    for (uint32_t i = 0; i < process; i++)
        for (uint32_t k = 0; k < c->session.processes[i].device_count; k++) {
            const char *other = cw_device_attribute(&c->session.processes[i].devices[k], "pci");
            if (other && strcmp(other, pci) == 0)
                return true;
        }
    return false;
}

/* Reads each GPU once, even if several processes use it. */
static void read_environment(struct capture *c)
{
    for (uint32_t i = 0; i < c->session.process_count; i++) {
        const struct cw_process *p = &c->session.processes[i];
        uint32_t process;
        struct cw_error err = CW_ERROR_INIT;
        for (uint32_t k = 0; k < p->device_count; k++) {
            struct cw_gpu_environment e;
            const char *pci = cw_device_attribute(&p->devices[k], "pci");
            if (pci && !is_read_before(c, i, pci) && cw_clock_log_environment(&c->clocks, pci, &e) &&
                cw_traced_find(&c->traced, p, &process, &err) == CW_OK)
                write_environment(c, process, p->devices[k].index, &e, &err);
        }
        if (err.code != CW_OK && c->session.trouble.code == CW_OK)
            c->session.trouble = err;
    }
}

static void look(void *user)
{
    struct capture *c = user;
    const uint64_t now = cw_clock_log_now_ns();
    cw_traced_toggle(&c->traced, cw_signals_user2());
    if (!(c->options->kinds & CW_TRACE_BIT(CW_TRACE_ENVIRONMENT)) || now - c->read_ns < c->options->environment_ns)
        return;
    c->read_ns = now;
    read_environment(c);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

/* Whether the window of --duration has closed, with a margin for the last data. */
static bool is_over(void *user)
{
    static const uint64_t margin_ns = 200000000;
    const struct capture *c = user;
    const struct cw_trace_window_options *w = &c->options->windows;
    return w->duration_ns && cw_clock_log_now_ns() > c->began_ns + w->delay_ns + w->duration_ns + margin_ns;
}

static enum cw_status run(struct capture *c, int *exit_status, struct cw_error *err)
{
    struct cw_session *s = &c->session;
    char chip[CW_CHIP_NAME_SIZE];
    struct cw_node_facts *facts = cw_node_facts_create(c->arena);
    CW_TRY(cw_filter_open(&c->filter, &c->options->filter, err));
    if (c->options->attach)
        CW_TRY(cw_session_attach(s, (pid_t)c->options->attach, err));
    CW_TRY(cw_node_check(&(struct cw_node_needs){.need = CW_NEED_TRACE, .facts = facts, .found_chip = chip}, err));
    s->chip = chip;
    s->facts = facts;
    s->filter = &c->filter;
    s->take = take;
    s->look = look;
    s->may_be_cut = true; /* its page has the losses */
    s->look_ms = (uint32_t)(c->options->environment_ns / 2000000) + 1;
    s->user = c;
    s->clocks = &c->clocks;
    c->clocks.control.wanted = c->options->capture.base_clocks;
    cw_trace_tell_early(s, c->options);
    c->out.clocks = &c->clocks;
    CW_TRY(cw_trace_capture_open(&c->out, c->options, chip, c->arena, err));
    CW_TRY(cw_trace_write_setup(&s->setup, CW_MODE_TRACE, c->options, err));
    if (!c->options->attach)
        CW_TRY(cw_session_start(s, c->options->capture.argv, err));
    c->began_ns = cw_clock_log_now_ns();
    if (c->options->attach)
        cw_session_serve_attached(s, is_over);
    else
        cw_session_serve(s);
    if (s->trouble.code == CW_OK)
        cw_traced_settle(&c->traced, &s->trouble);
    return cw_trace_capture_end(&c->out, c->options, &s->program, &s->trouble, exit_status, err);
}

enum cw_status cw_cupti_trace(const struct cw_trace_options *options, int *exit_status, struct cw_error *err)
{
    struct capture *c = calloc(1, sizeof *c);
    if (!c)
        return cw_error_nomem(err);
    c->options = options;
    c->traced.out = &c->out;
    c->traced.serialize = c->options->serialize;
    c->arena = cw_arena_create();
    cw_session_init(&c->session);
    enum cw_status status = c->arena ? run(c, exit_status, err) : cw_error_nomem(err);
    cw_session_finish(&c->session);
    cw_filter_close(&c->filter);
    cw_trace_output_close(&c->out);
    cw_traced_close(&c->traced);
    cw_arena_destroy(c->arena);
    cw_clock_log_free(&c->clocks);
    free(c);
    return status;
}
