/* Rules that advise, and the tree that says what limits a kernel: data/rules and data/limiter.yaml, which
 * data/schema.md explains.
 *
 * Their formulas become formulas of the chip (metricdb/formula.h), so that they are evaluated and explained as any
 * metric is: "rule.tail-wave.gain", "limiter.latency.when", and "value.dram_time" for what all files may use. */
#ifndef CW_METRICDB_RULES_H
#define CW_METRICDB_RULES_H

#include "metricdb/metric.h"

enum cw_rule_form { CW_RULE_PLAIN, CW_RULE_PERCENT, CW_RULE_TIMES }; /* a, a:% (0.5 is 50 %), a:x (0.5x) */

/* A name in a text or among evidence: a value of the rules, or a metric. */
struct cw_rule_name {
    const char *name;
    enum cw_rule_form form; /* for people */
    struct cw_metric metric;
};

/* A sentence is its pieces one after another, and `end`. */
struct cw_rule_piece {
    const char *before;
    struct cw_rule_name value; /* follows it */
};

/* Formulas are metrics' bases, CW_NONE for those that the file does not have. */
struct cw_rule {
    const char *id, *title, *fix, *path;
    unsigned line, column;
    const char *lacks; /* a metric that the chip does not have, so that the rule cannot be checked on it, or NULL */
    uint32_t when, gain, bound, refuted_by;
    uint32_t uncounted; /* the gain where these were not collected; of launches and devices alone */
    bool note;          /* is told where no other rule holds, whatever its gain is */
    size_t piece_count, evidence_count, stall_count;
    const struct cw_rule_piece *pieces;
    const char *end;
    const struct cw_rule_name *evidence; /* what the chip has of it */
    const char *const *stalls;           /* reasons, as cw_stall_reason_is has them */
};

/* A node of the tree, in the order of the file: its children follow it. */
struct cw_limiter {
    const char *id, *title, *path; /* path: "latency > barrier" */
    uint32_t depth;                /* 0 for the first level */
    uint32_t next;                 /* the first node behind it and all below it */
    uint32_t when, value;          /* CW_NONE for none */
    const char *lacks;             /* as of a rule */
    const char *file;
    unsigned line, column;
};

struct cw_rule_missing { /* a metric that the chip does not have */
    const char *name, *path;
    unsigned line, column;
};

struct cw_rules {
    const struct cw_chip *chip; /* with the formulas of the rules */
    size_t rule_count, limiter_count, metric_count, missing_count;
    const struct cw_rule *rules; /* those for this chip, in the order of the files */
    const struct cw_limiter *limiters;
    /* All formulas, what they are computed from, what stands in texts and evidence, and the time; each once, in the
     * order of cw_metric_compare. Those that are no CW_FORMULA are what a plan needs. */
    const struct cw_metric *metrics;
    const struct cw_rule_missing *missing;
};

/* Reads the rules of a data folder (metricdb/data.h), and those of `own`, a file or a folder of *.yaml, unless that is
 * NULL. What the chip lacks is no error. Everything lives in `arena`, which must not outlive the one of `chip`. */
enum cw_status cw_rules_load(const struct cw_rules **rules, const struct cw_chip *chip, const char *data,
                             const char *own, struct cw_arena *arena, struct cw_error *err);
/* The same from the text of one file; `path` is for messages. */
enum cw_status cw_rules_parse(const struct cw_rules **rules, const struct cw_chip *chip, const void *text, size_t size,
                              const char *path, struct cw_arena *arena, struct cw_error *err);

/* A value of the rules, by the name that texts and evidence have for it ("l1_use"), or in full ("rule.tail-wave.gain").
 * CW_ERR_UNSUPPORTED: there is none; CW_ERR_USAGE: several rules have one of their own. */
enum cw_status cw_rules_find(struct cw_metric *metric, const struct cw_rules *rules, const char *name,
                             struct cw_error *err);

#endif
