/* The work of the examples without a GPU: launches that a simulated one is told of, and numbers of the host. */
#include <counterworks/collect.h>

#include "work.h"

static double x, y;

void work_begin(void)
{
    x = 1;
    y = 2;
}

void work_scale(void)
{
    x = x * 0.99 + 1;
    counterworks_collect_pretend("launch scale");
}

void work_mix(void)
{
    y = y * 0.5 + x;
    counterworks_collect_pretend("launch mix");
}

void work_step(void)
{
    for (int i = 0; i < 4; i++) {
        work_scale();
        work_mix();
    }
    counterworks_collect_pretend("sync");
}

double work_end(void)
{
    return y;
}

void work_print(const char *name, double result)
{
    printf("%s %.17g\n", name, result);
}
