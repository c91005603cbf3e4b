/* What OpenMP has on the host: regions, loops, tasks and waits, with some work each, and CUDA where it is there.
 * Prints what it computed. clang -fopenmp openmp.c -ldl */
#include <omp.h>
#include <stdio.h>

void begin_cuda(void);

enum { N = 1 << 16, REPEATS = 4 };
static double values[N];

static double tasks(int depth)
{
    double a = 1, b = 1;
    if (depth == 0)
        return 1;
#pragma omp task shared(a)
    a = tasks(depth - 1);
#pragma omp task shared(b)
    b = tasks(depth - 1);
#pragma omp taskwait
    return a + b;
}

int main(void)
{
    double sum = 0, leaves = 0;
    omp_set_dynamic(0);
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        if (repeat == 1)
            begin_cuda(); /* regions before it are kept, too */
#pragma omp parallel num_threads(4)
        {
#pragma omp for
            for (int i = 0; i < N; i++)
                values[i] = (double)i * repeat;
#pragma omp single
            leaves += tasks(4);
#pragma omp barrier
#pragma omp for reduction(+ : sum)
            for (int i = 0; i < N; i++)
                sum += values[i] > 0;
        }
    }
    printf("%d leaves, %d above 0\n", (int)leaves, (int)sum);
    return 0;
}
