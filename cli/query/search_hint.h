/* What to say where nothing was found. */
#ifndef CW_CLI_QUERY_SEARCH_HINT_H
#define CW_CLI_QUERY_SEARCH_HINT_H

#include "cli/query/search.h"
#include "metricdb/glossary.h"

/* Says on stderr which of the words no metric of the chip has, with the nearest words that there are; where each is
 * found, that no metric has all of them. Says nothing of a regular expression. */
void cw_search_hint(const struct cw_search *search, const struct cw_chip *chip, const struct cw_glossary *glossary);

#endif
