#include <criterion/criterion.h>
#include <math.h>

#include "eval/compare/statistics.h"

/* Percentage points as tables of Student's t have them (Abramowitz and Stegun, table 26.10). */
Test(eval_statistics, quantiles_of_tables)
{
    static const struct {
        unsigned freedom;
        double tail, t;
    } rows[] = {{1, 0.025, 12.706},  {2, 0.025, 4.303},   {3, 0.005, 5.841},     {4, 0.0005, 8.610},
                {5, 0.05, 2.015},    {10, 0.0005, 4.587}, {15, 0.000005, 6.504}, {30, 0.025, 2.042},
                {120, 0.005, 2.617}, {1, 0.0005, 636.619}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect(fabs(cw_student_quantile(rows[i].freedom, rows[i].tail) / rows[i].t - 1) < 1e-3, "%u %g: %g",
                  rows[i].freedom, rows[i].tail, cw_student_quantile(rows[i].freedom, rows[i].tail));
}

Test(eval_statistics, tails_are_those_of_quantiles)
{
    for (unsigned freedom = 1; freedom <= 40; freedom++)
        for (double tail = 0.4; tail > 1e-8; tail /= 7)
            cr_expect(fabs(cw_student_tail(cw_student_quantile(freedom, tail), freedom) / tail - 1) < 1e-6);
    cr_expect(cw_student_tail(0, 5) == 0.5);
}

Test(eval_statistics, nothing_is_known_of_one_value)
{
    cr_expect(isinf(cw_student_quantile(0, 0.01)));
    cr_expect(cw_student_tail(100, 0) == 0.5);
    cr_expect(cw_student_quantile(100000, 0.025) < 1.98);
}
