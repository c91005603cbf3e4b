/* Small images that use every field of both formats. */
#ifndef CW_TESTS_IMAGE_SAMPLES_H
#define CW_TESTS_IMAGE_SAMPLES_H

#include "image/config_image.h"
#include "image/counter_data.h"
#include "image/pc_data.h"

/* Two domains, three raw counters, two passes, four counters, two metrics and a limit. No pass holds all of the second
 * counter; the fourth has no raw counters. */
struct cw_config_image cw_sample_plan(void);
/* The same with a native image. */
struct cw_config_image cw_sample_plan_native(void);
/* That with what two names stood for. */
struct cw_config_image cw_sample_plan_meanings(void);
/* Nothing in any list. */
struct cw_config_image cw_sample_plan_empty(void);

/* Counter data of the sample plan: two devices, three ranges with values of every form, and an end chunk where
 * `complete`. The file has CW_SAMPLE_DATA_CHUNKS chunks with it: SCHM DEVC RNGE RNGE DEVC RNGE ENDC. */
enum { CW_SAMPLE_DATA_CHUNKS = 7, CW_SAMPLE_COUNTERS = 4, CW_SAMPLE_RANGES = 3 };
void cw_sample_data(struct cw_writer *out, bool complete);
/* The same with counters that were recorded whole in both passes: two repeats, SCHM RPTS DEVC RVAL RNGE RVAL RNGE DEVC
 * RVAL RNGE ENDC. Repeat `i` of range `r` is 10 * r + i in every rollup. */
enum { CW_SAMPLE_REPEATS = 2 };
void cw_sample_repeats(struct cw_writer *out);
/* The same with facts of launches, SCHM FNAM DEVC RFCT RNGE RFCT RNGE DEVC RNGE ENDC: registers 40, shared memory
 * unknown, priority -5 of the first; of the second the same, but 2.5; none of the third. */
enum { CW_SAMPLE_FACTS = 3 };
void cw_sample_facts(struct cw_writer *out);
/* The values written for a range. */
const struct cw_value *cw_sample_values(uint32_t range);

/* Batches that use every field; what they point to is constant. */
struct cw_pc_batch cw_sample_pc_batch(void);
struct cw_sass_batch cw_sample_sass_batch(void);
/* A capture of samples: SCHM DEVC MODL PCSM PCSM ENDC; of SASS metrics: SCHM DEVC MODL SASS ENDC. The module's code is
 * `code`, or four bytes that are no ELF image where `code` is NULL. */
void cw_sample_pc_data(struct cw_writer *out, enum cw_profiler profiler, const void *code, size_t size);
/* Samples of the sample plan: SCHM DEVC CLCK SMPL SMPL LNCH CLCK ENDC, blocks of three samples and of one, columns of
 * every form, two launches. `clocks` of the two CLCK chunks are there. */
enum { CW_SAMPLE_PM_CHUNKS = 8 };
void cw_sample_pm(struct cw_writer *out, int clocks, bool complete);
/* The same, in two windows: WNDW WNDW before the end. */
void cw_sample_windows(struct cw_writer *out);

#endif
