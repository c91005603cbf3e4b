/* The work of the examples: steps over an array on the GPU, or anything else of yours. */
#ifndef WORK_H
#define WORK_H

void work_begin(void); /* the first call of CUDA */
void work_scale(void); /* one launch */
void work_mix(void);   /* one launch, which needs what is in memory and changes it */
void work_step(void);  /* some of both */
double work_end(void); /* what came out, the same each time; frees all */
void work_print(const char *name, double result);

#endif
