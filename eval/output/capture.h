/* Facts of a capture beside its values, for all outputs. */
#ifndef CW_EVAL_OUTPUT_CAPTURE_H
#define CW_EVAL_OUTPUT_CAPTURE_H

#include <stdio.h>

#include "image/counter_data.h"
#include "image/job_ranks.h"
#include "json/json_tree.h"

/* When the capture began (its earliest range) as "2025-11-21T23:00:00Z", "" if unknown. Returns `text`. */
enum { CW_TIME_SIZE = 32 };
const char *cw_capture_created(const struct cw_counter_data *data, char text[CW_TIME_SIZE]);

/* Prints the devices, of `count` GPUs, for people: "2 x NVIDIA H100 (GH100, simulated)". */
void cw_capture_put_devices(const struct cw_counter_data *data, uint32_t count, FILE *out);
/* Prints a line for people for each filter that capture-agent was given. False if there was none. */
bool cw_capture_put_filters(const struct cw_counter_data *data, FILE *out);

/* JSON trees, NULL when out of memory: all facts beside values, and attributes as an object. */
json_t *cw_capture_manifest(const struct cw_counter_data *data, const char *source);
json_t *cw_capture_pairs(const struct cw_pair *pairs, uint32_t count);

/* Sorts the ranks of the job, and adds their number and the missing ones to a tree, if captures tell them. */
void cw_capture_set_ranks(json_t **object, struct cw_job_ranks *job);
/* Sorts the ranks and prints a line for people with the same facts, if captures tell them. */
void cw_capture_show_ranks(struct cw_job_ranks *job, FILE *out);

#endif
