#include "eval/output/lane_places.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *cw_lane_device_name(struct cw_lane_places *p, uint32_t device)
{
    const struct cw_counter_data *data = p->timeline->data;
    const char *name =
        device == CW_NO_TRACE_DEVICE ? "GPU" : cw_arena_printf(p->arena, "GPU %" PRIu32, data->devices[device].index);
    p->nomem = p->nomem || !name;
    return name ? name : "";
}

/* "rank 3: train.py on host"; if viewers have another number for it, "train.py on host, process 7 on host #2". */
static const char *process_name(struct cw_lane_places *p, uint32_t process)
{
    const uint32_t pid = p->timeline->trace->processes[process].pid;
    char number[160] = "";
    if ((uint32_t)p->pids[process] != pid || *p->timeline->process_marks[process])
        snprintf(number, sizeof number, ", process %" PRIu32 "%s", pid, p->timeline->process_marks[process]);
    const char *rank = cw_timeline_attribute(p->timeline, process, "rank"),
               *program = cw_timeline_attribute(p->timeline, process, "program"),
               *host = cw_timeline_attribute(p->timeline, process, "host");
    const char *name =
        cw_arena_printf(p->arena, "%s%s%s%s%s%s%s", rank ? "rank " : "", rank ? rank : "", rank ? ": " : "",
                        program ? program : "process", host ? " on " : "", host ? host : "", number);
    p->nomem = p->nomem || !name;
    return name ? name : "";
}

struct pid {
    uint32_t pid, process;
};

static int by_pid(const void *a, const void *b)
{
    const struct pid *x = a, *y = b;
    return x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid)
                            : (x->process > y->process) - (x->process < y->process);
}

/* Viewers tell processes apart by their number alone. Processes of several hosts may share one: the first keeps it, and
 * the others get numbers that no system gives. */
static void find_pids(int32_t *pids, const struct cw_trace *trace, struct pid *sorted)
{
    for (uint32_t i = 0; i < trace->process_count; i++)
        sorted[i] = (struct pid){trace->processes[i].pid, i};
    qsort(sorted, trace->process_count, sizeof *sorted, by_pid);
    for (uint32_t i = 0; i < trace->process_count; i++) {
        const bool other = (i && sorted[i - 1].pid == sorted[i].pid) || sorted[i].pid >= CW_LANES_FREE;
        pids[sorted[i].process] = (int32_t)(other ? CW_LANES_FREE + i : sorted[i].pid);
    }
}

void cw_lane_places_begin(struct cw_lane_places *p, const struct cw_timeline *timeline, struct cw_lanes *lanes,
                          struct cw_arena *arena)
{
    const uint32_t count = timeline->trace->process_count;
    *p = (struct cw_lane_places){.timeline = timeline, .lanes = lanes, .arena = arena};
    p->processes = cw_arena_alloc(arena, count, sizeof *p->processes);
    p->pids = cw_arena_alloc(arena, count, sizeof *p->pids);
    struct pid *sorted = calloc((size_t)count + 1, sizeof *sorted);
    p->nomem = !p->processes || !p->pids || !sorted;
    if (!p->nomem)
        find_pids(p->pids, timeline->trace, sorted);
    for (uint32_t i = 0; i < count && !p->nomem; i++)
        p->processes[i] = cw_lanes_add(
            lanes, &(struct cw_lane){
                       .kind = CW_LANE_PROCESS, .parent = CW_NO_LANE, .pid = p->pids[i], .name = process_name(p, i)});
    free(sorted);
}

void cw_lane_places_free(struct cw_lane_places *p)
{
    cw_keys_free(&p->keys);
    free(p->of_key);
}

/* The place of a key's lane, CW_NO_LANE if it has none yet; NULL when out of memory. */
static uint32_t *find(struct cw_lane_places *p, const struct cw_key *key)
{
    const uint32_t count = p->keys.count, k = cw_keys_add(&p->keys, *key);
    if (k != CW_NO_KEY && k >= p->room) {
        const size_t room = 2 * p->room + 64;
        uint32_t *more = realloc(p->of_key, room * sizeof *more);
        if (more) {
            p->of_key = more;
            p->room = room;
        }
    }
    const bool enough = !p->nomem && k != CW_NO_KEY && k < p->room; /* each place behind a failure may be unset */
    p->nomem = !enough;
    if (enough && k >= count)
        p->of_key[k] = CW_NO_LANE;
    return enough ? &p->of_key[k] : NULL;
}

static uint32_t device_lane(struct cw_lane_places *p, uint64_t process, uint64_t device)
{
    uint32_t *at = find(p, &(struct cw_key){{process, device, CW_PLACE_DEVICE, 0}});
    if (!at || *at != CW_NO_LANE)
        return at ? *at : CW_NO_LANE;
    const char *model = cw_device_attribute(&p->timeline->data->devices[device], "name");
    const char *name = cw_arena_printf(p->arena, "%s%s%s", cw_lane_device_name(p, (uint32_t)device), model ? " " : "",
                                       model ? model : "");
    p->nomem = p->nomem || !name;
    if (name)
        *at = cw_lanes_add(p->lanes,
                           &(struct cw_lane){.kind = CW_LANE_GROUP, .parent = p->processes[process], .name = name});
    return *at;
}

uint32_t cw_lane_place(struct cw_lane_places *p, const struct cw_key *key, const struct cw_lane *lane,
                       const char *detail)
{
    const uint64_t process = key->part[0], device = key->part[1];
    uint32_t *at = find(p, key);
    if (!at || *at != CW_NO_LANE)
        return at ? *at : CW_NO_LANE;
    struct cw_lane placed = *lane;
    placed.parent = device == CW_NO_TRACE_DEVICE ? p->processes[process] : device_lane(p, process, device);
    placed.name = detail ? cw_arena_printf(p->arena, "%s %s", lane->name, detail) : lane->name;
    p->nomem = p->nomem || !placed.name;
    at = find(p, key); /* the first place may have moved */
    if (at && placed.name && placed.parent != CW_NO_LANE)
        *at = cw_lanes_add(p->lanes, &placed);
    return at ? *at : CW_NO_LANE;
}
