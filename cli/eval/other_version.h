/* A capture that was planned with another version of the database. */
#ifndef CW_CLI_EVAL_OTHER_VERSION_H
#define CW_CLI_EVAL_OTHER_VERSION_H

#include "image/counter_data.h"
#include "metricdb/chip.h"

/* Tells on standard error which of its counters the chip's database does not know, and which names mean something else
 * there, or in the user's formulas that the chip has, than when it was planned. */
void cw_say_other_version(const char *capture, const struct cw_schema *schema, const struct cw_chip *chip);

#endif
