#include <criterion/criterion.h>

#include "eval/compare/better.h"

Test(eval_better, which_way)
{
    static const struct {
        const char *name;
        enum cw_better better;
    } rows[] = {
        {"gpu__time_duration.sum", CW_BETTER_LESS},
        {"sm__cycles_elapsed.avg", CW_BETTER_LESS},
        {"smsp__inst_executed.sum", CW_BETTER_LESS},
        {"smsp__inst_executed.sum.per_cycle_active", CW_BETTER_MORE},
        {"smsp__inst_executed.sum.per_second", CW_BETTER_MORE},
        {"dram__bytes_read.sum", CW_BETTER_LESS},
        {"dram__bytes_read.sum.per_second", CW_BETTER_MORE},
        {"dram__throughput.avg.pct_of_peak_sustained_elapsed", CW_BETTER_MORE},
        {"dram__bytes.sum.peak_sustained", CW_BETTER_UNKNOWN},
        {"lts__t_sector_hit_rate.pct", CW_BETTER_MORE},
        {"lts__t_sector_hit_rate.max_rate", CW_BETTER_UNKNOWN},
        {"lts__t_sectors_lookup_hit.sum", CW_BETTER_UNKNOWN},
        {"lts__t_sectors_lookup_miss.sum", CW_BETTER_LESS},
        {"l1tex__data_bank_conflicts_pipe_lsu.sum", CW_BETTER_LESS},
        {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", CW_BETTER_LESS},
        {"smsp__warps_issue_stalled_barrier.avg.pct_of_peak_sustained_active", CW_BETTER_LESS},
        {"sm__warps_active.avg.pct_of_peak_sustained_active", CW_BETTER_MORE},
        {"SM_A.TriageCompute.l1tex__t_sectors.sum", CW_BETTER_LESS},
        {"launch__registers_per_thread", CW_BETTER_LESS},
        {"launch__occupancy_limit_registers", CW_BETTER_UNKNOWN},
        {"mine", CW_BETTER_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect(cw_metric_better(rows[i].name) == rows[i].better, "%s is %s", rows[i].name,
                  cw_better_names[cw_metric_better(rows[i].name)]);
}

Test(eval_better, what_a_kernel_asks_for)
{
    static const char *const counts[] = {"smsp__inst_executed.sum",
                                         "smsp__inst_executed.avg",
                                         "smsp__thread_inst_executed_pred_on.sum",
                                         "SM_C.TriageCompute.smsp__inst_executed.sum",
                                         "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
                                         "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                                         "launch__registers_per_thread"};
    static const char *const others[] = {"smsp__inst_issued.sum",
                                         "smsp__inst_executed.max",
                                         "smsp__inst_executed.sum.per_second",
                                         "l1tex__t_sectors_lookup_hit.sum",
                                         "l1tex__data_pipe_lsu_wavefronts.sum",
                                         "lts__t_sectors.sum",
                                         "dram__sectors_read.sum",
                                         "gpu__time_duration.sum",
                                         "mine"};
    struct cw_arena *arena = cw_arena_create();
    enum cw_metric_class *classes;
    cr_assert(cw_metric_classes(&classes, counts, sizeof counts / sizeof *counts, CW_SOURCE_DIR "/data", arena, NULL) ==
              CW_OK);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        cr_expect(classes[i] == CW_CLASS_EXACT, "%s", counts[i]);
    cr_assert(cw_metric_classes(&classes, others, sizeof others / sizeof *others, CW_SOURCE_DIR "/data", arena, NULL) ==
              CW_OK);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        cr_expect(classes[i] != CW_CLASS_EXACT, "%s", others[i]);
    cw_arena_destroy(arena);
}
