#include "metricdb/compiled_table.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "metricdb/chip.h"
#include "metricdb/columns.h"

/* clang-format off */
#define FIELD(type, member, kind) {#member, CW_KIND_##kind, offsetof(struct type, member), CW_TABLE_ANY, 0}
#define REFERENCE(type, member, kind, table) \
    {#member, CW_KIND_##kind, offsetof(struct type, member), CW_TABLE_##table, 0}
#define ARRAY(type, member, size, table) \
    {#member, CW_KIND_ITEMS, offsetof(struct type, member), CW_TABLE_##table, offsetof(struct type, size)}
#define REALS(type, member, size) \
    {#member, CW_KIND_REALS, offsetof(struct type, member), CW_TABLE_ANY, offsetof(struct type, size)}
#define LIST(type, member, table) FIELD(type, member.count, NUMBER), ARRAY(type, member.items, member.count, table)
/* Members shared by counters, ratios and throughputs. */
#define BASE(type) \
    FIELD(type, name, TEXT), FIELD(type, dimension, TEXT), REFERENCE(type, unit, INDEX, UNITS), \
    LIST(type, raws, RAWS), FIELD(type, listed, NUMBER), FIELD(type, confirmed, NUMBER), FIELD(type, line, NUMBER)
/* clang-format on */

/* Every member of the structures in chip.h has an entry here, below or in the table of tables; the reader sets or makes
 * the members of cw_chip that have none. */
static const struct cw_compiled_field chip_fields[] = {FIELD(cw_chip, name, TEXT), FIELD(cw_chip, no_sampling, NUMBER),
                                                       REFERENCE(cw_chip, time, OPTION, COUNTERS),
                                                       REFERENCE(cw_chip, device_counter, OPTION, RAWS)};
static const struct cw_compiled_field unit_fields[] = {FIELD(cw_unit, name, TEXT), FIELD(cw_unit, instances, NUMBER),
                                                       REFERENCE(cw_unit, active, OPTION, COUNTERS),
                                                       REFERENCE(cw_unit, elapsed, OPTION, COUNTERS)};
static const struct cw_compiled_field domain_fields[] = {FIELD(cw_domain, name, TEXT), FIELD(cw_domain, id, NUMBER)};
static const struct cw_compiled_field pass_cost_fields[] = {FIELD(cw_pass_cost, cost, NUMBER),
                                                            LIST(cw_pass_cost, domains, DOMAINS)};
static const struct cw_compiled_field raw_fields[] = {FIELD(cw_raw_counter, id, WIDE),
                                                      FIELD(cw_raw_counter, placement, NUMBER),
                                                      FIELD(cw_raw_counter, placement_count, NUMBER)};
static const struct cw_compiled_field placement_fields[] = {REFERENCE(cw_chip_placement, raw, INDEX, RAWS),
                                                            REFERENCE(cw_chip_placement, domain, INDEX, DOMAINS)};
static const struct cw_compiled_field limit_fields[] = {
    FIELD(cw_limit, max, NUMBER), FIELD(cw_limit, pm_max, NUMBER), FIELD(cw_limit, line, NUMBER), FIELD(cw_limit, count, NUMBER),
    ARRAY(cw_limit, members, count, PLACEMENTS), ARRAY(cw_limit, groups, count, ANY)};
static const struct cw_compiled_field counter_fields[] = {BASE(cw_counter),
                                                          REFERENCE(cw_counter, active, OPTION, COUNTERS),
                                                          REFERENCE(cw_counter, elapsed, OPTION, COUNTERS),
                                                          REFERENCE(cw_counter, sampled_active, OPTION, COUNTERS),
                                                          REFERENCE(cw_counter, sampled_elapsed, OPTION, COUNTERS),
                                                          FIELD(cw_counter, instances, NUMBER),
                                                          FIELD(cw_counter, peak, WIDE),
                                                          LIST(cw_counter, terms, COUNTERS),
                                                          REALS(cw_counter, coefficients, terms.count),
                                                          FIELD(cw_counter, per, WIDE)};
static const struct cw_compiled_field ratio_fields[] = {
    BASE(cw_ratio), REFERENCE(cw_ratio, numerator, OPTION, COUNTERS),
    REFERENCE(cw_ratio, denominator, OPTION, COUNTERS), FIELD(cw_ratio, scale, WIDE), FIELD(cw_ratio, max_rate, WIDE)};
static const struct cw_compiled_field throughput_fields[] = {
    BASE(cw_throughput), LIST(cw_throughput, counters, COUNTERS), LIST(cw_throughput, throughputs, THROUGHPUTS)};
static const struct cw_compiled_field also_fields[] = {{"also", CW_KIND_TEXT, 0, CW_TABLE_ANY, 0}};
static const struct cw_compiled_field source_fields[] = {{"source", CW_KIND_PROSE, 0, CW_TABLE_ANY, 0}};

#define TABLE(member, number, type, list)                                                                              \
    {                                                                                                                  \
#member, sizeof(type), offsetof(struct cw_chip, member), offsetof(struct cw_chip, number), list,               \
            sizeof list / sizeof *list                                                                                 \
    }

const struct cw_compiled_table cw_compiled_tables[CW_TABLE_COUNT] = {
    [CW_TABLE_CHIP] = {"chip", sizeof(struct cw_chip), 0, 0, chip_fields, sizeof chip_fields / sizeof *chip_fields},
    [CW_TABLE_UNITS] = TABLE(units, unit_count, struct cw_unit, unit_fields),
    [CW_TABLE_DOMAINS] = TABLE(domains, domain_count, struct cw_domain, domain_fields),
    [CW_TABLE_PASS_COSTS] = TABLE(pass_costs, pass_cost_count, struct cw_pass_cost, pass_cost_fields),
    [CW_TABLE_RAWS] = TABLE(raws, raw_count, struct cw_raw_counter, raw_fields),
    [CW_TABLE_PLACEMENTS] = TABLE(placements, placement_count, struct cw_chip_placement, placement_fields),
    [CW_TABLE_LIMITS] = TABLE(limits, limit_count, struct cw_limit, limit_fields),
    [CW_TABLE_PM_LIMITS] = TABLE(pm_limits, pm_limit_count, struct cw_limit, limit_fields),
    [CW_TABLE_COUNTERS] = TABLE(counters, counter_count, struct cw_counter, counter_fields),
    [CW_TABLE_RATIOS] = TABLE(ratios, ratio_count, struct cw_ratio, ratio_fields),
    [CW_TABLE_THROUGHPUTS] = TABLE(throughputs, throughput_count, struct cw_throughput, throughput_fields),
    [CW_TABLE_ALSO] = TABLE(also, also_count, const char *, also_fields),
    [CW_TABLE_SOURCE] = TABLE(source, source_count, const char *, source_fields),
};

#if UINTPTR_MAX == UINT64_MAX
/* When a structure grows: add a line for the new member above, then set the size here. */
_Static_assert(sizeof(struct cw_chip) == 232 && sizeof(struct cw_unit) == 24 && sizeof(struct cw_domain) == 16 &&
                   sizeof(struct cw_pass_cost) == 24 && sizeof(struct cw_raw_counter) == 16 &&
                   sizeof(struct cw_chip_placement) == 8 && sizeof(struct cw_limit) == 32 &&
                   sizeof(struct cw_counter) == 112 && sizeof(struct cw_ratio) == 80 &&
                   sizeof(struct cw_throughput) == 88,
               "a member of a structure in chip.h is missing in the tables above");
#endif

uint64_t cw_compiled_layout(void)
{
    XXH64_hash_t hash = CW_COLUMN_VERSION;
    for (int t = 0; t < CW_TABLE_COUNT; t++) {
        hash = XXH3_64bits_withSeed(cw_compiled_tables[t].name, strlen(cw_compiled_tables[t].name), hash);
        for (size_t i = 0; i < cw_compiled_tables[t].field_count; i++) {
            const struct cw_compiled_field *f = &cw_compiled_tables[t].fields[i];
            const uint8_t meaning[2] = {(uint8_t)f->kind, (uint8_t)f->to};
            hash = XXH3_64bits_withSeed(f->name, strlen(f->name), hash);
            hash = XXH3_64bits_withSeed(meaning, sizeof meaning, hash);
        }
    }
    return hash;
}
