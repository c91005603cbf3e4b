/* What gate found, written. */
#ifndef CW_EVAL_OUTPUT_GATE_OUTPUT_H
#define CW_EVAL_OUTPUT_GATE_OUTPUT_H

#include "eval/compare/gate.h"

struct cw_gate_output {
    const struct cw_gate_rules *rules;
    const struct cw_comparison *comparison;
    const struct cw_judgement *judgement;
    double need; /* as it was judged with */
};

struct cw_gate_learned {
    const char *path; /* of the rules */
    const struct cw_gate_runs *runs;
    const struct cw_gate_summary *summary;
};
/* For people: what the rules hold, their noise, and the slow-downs that would show. */
void cw_gate_print_summary(FILE *out, const struct cw_gate_learned *learned);

/* `output` is a struct cw_gate_output: these are cw_file_render (base/file.h). CW_ERR_NOMEM alone. */

/* For people: the verdict, then why captures cannot be compared, then for each kernel what is beyond its noise. */
enum cw_status cw_gate_print(FILE *out, const void *output, struct cw_error *err);
/* All of it, as data/schemas/gate.schema.json has it. */
enum cw_status cw_gate_write_json(FILE *out, const void *output, struct cw_error *err);

#endif
