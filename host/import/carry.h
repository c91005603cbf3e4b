/* Takes the pass limits of an existing chip file over into a new one, for a chip whose raw counters and domains are
 * unchanged: learning takes minutes, taking over does not. */
#ifndef CW_IMPORT_CARRY_H
#define CW_IMPORT_CARRY_H

#include "host/base/bytes.h"
#include "host/import/facts.h"

/* The lines of `source:` that say where the limits and the PM limits come from; "" for none. */
struct cw_limit_sources {
    char range[1024], pm[1024];
};

/* Appends the sections 'classes', 'limits' and 'pm_limits' of the file at `path` to `text` and says where they come
 * from. CW_ERR_DIFFERS when the file is about other raw counters or domains than `facts`. */
enum cw_status cw_carry_limits(const struct cw_facts *facts, const char *path, struct cw_writer *text,
                               struct cw_limit_sources *sources, struct cw_error *err);

#endif
