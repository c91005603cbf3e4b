/* Rules of advice, and the tree of a kernel's limiters: data/rules and data/limiter.yaml, which data/schema.md
 * explains.
 *
 * Their formulas become formulas of the chip (metricdb/formula.h) and are evaluated and explained like any metric:
 * "rule.tail-wave.gain", "limiter.latency.when", and "value.dram_time" for values that all files may use. */
#ifndef CW_METRICDB_RULES_H
#define CW_METRICDB_RULES_H

#include "metricdb/metric.h"

enum cw_rule_form { CW_RULE_PLAIN, CW_RULE_PERCENT, CW_RULE_TIMES }; /* a, a:% (0.5 is 50 %), a:x (0.5x) */

/* A name in a text or in evidence: a value of the rules, or a metric. */
struct cw_rule_name {
    const char *name;
    enum cw_rule_form form; /* form for people */
    struct cw_metric metric;
};

/* Of a launch that loads, about this time cannot be saved, in ns: `shortest` in data/rules/common.yaml. */
#define CW_RULE_SHORTEST_NS 3000

/* A rule. Formulas are bases of metrics, CW_NONE for formulas that the file lacks. */
struct cw_rule {
    const char *id, *title, *fix, *path;
    unsigned line, column;
    const char *lacks; /* a metric that the chip lacks, so that the rule cannot be checked, or NULL */
    uint32_t when, gain, bound, refuted_by;
    uint32_t uncounted; /* the gain if these metrics were not collected; uses facts of launches and devices alone */
    uint32_t by_launch; /* the same without the time that cannot be saved: the gain that advice shows then */
    bool note;          /* printed if no other rule applies, whatever its gain */
    size_t piece_count, evidence_count, stall_count;
    /* A sentence is its pieces in order, then `end`. */
    const struct cw_rule_piece {
        const char *before;
        struct cw_rule_name value; /* printed behind `before` */
    } * pieces;
    const char *end;
    const struct cw_rule_name *evidence; /* evidence that the chip has */
    const char *const *stalls;           /* reasons for cw_stall_reason_is */
};

/* A node of the tree. Nodes are in the order of the file: the children follow their parent. */
struct cw_limiter {
    const char *id, *title, *path; /* path: "latency > barrier" */
    uint32_t depth;                /* 0 for the first level */
    uint32_t next;                 /* the next node that is not below it */
    uint32_t when, value;          /* CW_NONE for none */
    const char *lacks;             /* as for a rule */
    const char *file;
    unsigned line, column;
};

struct cw_rules {
    const struct cw_chip *chip; /* with the formulas of the rules */
    size_t rule_count, limiter_count, metric_count, missing_count;
    const struct cw_rule *rules; /* rules for this chip, in the order of the files */
    const struct cw_limiter *limiters;
    /* All formulas, their inputs, the metrics of texts and evidence, and the time; sorted by cw_metric_compare, without
     * duplicates. A plan needs all of them but those of type CW_FORMULA. */
    const struct cw_metric *metrics;
    const struct cw_rule_missing { /* a metric that the chip lacks */
        const char *name, *path;
        unsigned line, column;
    } * missing;
};

/* Reads the rules of a data folder (metricdb/data.h), and the rules of `own`, a file or a folder of *.yaml, unless that
 * is NULL. A metric that the chip lacks is no error. Everything lives in `arena`, which must not outlive the arena of
 * `chip`. */
enum cw_status cw_rules_load(const struct cw_rules **rules, const struct cw_chip *chip, const char *data,
                             const char *own, struct cw_arena *arena, struct cw_error *err);
/* Reads the rules in the text of one file; `path` is for messages. */
enum cw_status cw_rules_parse(const struct cw_rules **rules, const struct cw_chip *chip, const void *text, size_t size,
                              const char *path, struct cw_arena *arena, struct cw_error *err);

/* Finds a value of the rules, by its name in texts and evidence ("l1_use"), in full ("rule.tail-wave.gain"), or by the
 * limit ("latency") or the rule ("tail-wave") whose part of the time it is.
 * CW_ERR_UNSUPPORTED: there is none; CW_ERR_USAGE: several rules have one of that name. */
enum cw_status cw_rules_find(struct cw_metric *metric, const struct cw_rules *rules, const char *name,
                             struct cw_error *err);

#endif
