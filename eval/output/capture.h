/* What outputs say of a capture beside its values. */
#ifndef CW_EVAL_OUTPUT_CAPTURE_H
#define CW_EVAL_OUTPUT_CAPTURE_H

#include <stdio.h>

#include "image/counter_data.h"
#include "image/job_ranks.h"
#include "json/json_tree.h"

/* When the capture began (its earliest range) as "2025-11-21T23:00:00Z", "" where nothing says. Returns `text`. */
enum { CW_TIME_SIZE = 32 };
const char *cw_capture_created(const struct cw_counter_data *data, char text[CW_TIME_SIZE]);

/* A line for people for each filter that capture-agent was given. False where it was given none. */
bool cw_capture_put_filters(const struct cw_counter_data *data, FILE *out);

/* Trees, NULL when out of memory: all facts that are no values, and attributes as an object. */
json_t *cw_capture_manifest(const struct cw_counter_data *data, const char *source);
json_t *cw_capture_pairs(const struct cw_pair *pairs, uint32_t count);

/* Adds to a tree how many ranks the job has and which are missing, where captures tell; sorts them. */
void cw_capture_set_ranks(json_t **object, struct cw_job_ranks *job);
/* Prints a line for people of the same, where captures tell; sorts them. */
void cw_capture_show_ranks(struct cw_job_ranks *job, FILE *out);

#endif
