/* What OpenACC does: data regions, updates, kernels and waits. Prints what it computed; with a compiler and a GPU for it
 * that is done there, else on the host. gcc -fopenacc openacc.c -ldl */
#include <stdio.h>

void begin_cuda(void);

enum { N = 1 << 16 };
static float x[N], y[N];

int main(void)
{
    float sum = 0;
    begin_cuda();
    for (int i = 0; i < N; i++)
        x[i] = 1, y[i] = 2;
#pragma acc data copyin(x) copy(y)
    {
        for (int repeat = 0; repeat < 3; repeat++) {
#pragma acc parallel loop async(1) present(x, y)
            for (int i = 0; i < N; i++)
                y[i] += 2 * x[i];
        }
#pragma acc wait(1)
#pragma acc update self(y)
#pragma acc parallel loop reduction(+ : sum) present(y)
        for (int i = 0; i < N; i++)
            sum += y[i];
    }
    printf("%d\n", (int)(sum / N));
    return 0;
}
