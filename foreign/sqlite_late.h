/* SQLite for foreign/nsys_sqlite.c, loaded when the first database is read: few commands read one, and nodes without it
 * can run all others. */
#ifndef CW_FOREIGN_SQLITE_LATE_H
#define CW_FOREIGN_SQLITE_LATE_H

#include <sqlite3.h>

#include "base/error.h"

#define CW_SQLITE_FUNCTIONS(X)                                                                                         \
    X(sqlite3_bind_int64)                                                                                              \
    X(sqlite3_bind_text)                                                                                               \
    X(sqlite3_close_v2)                                                                                                \
    X(sqlite3_column_int64)                                                                                            \
    X(sqlite3_column_text)                                                                                             \
    X(sqlite3_column_type)                                                                                             \
    X(sqlite3_db_config)                                                                                               \
    X(sqlite3_deserialize)                                                                                             \
    X(sqlite3_errmsg)                                                                                                  \
    X(sqlite3_finalize)                                                                                                \
    X(sqlite3_limit)                                                                                                   \
    X(sqlite3_open_v2)                                                                                                 \
    X(sqlite3_prepare_v2)                                                                                              \
    X(sqlite3_progress_handler)                                                                                        \
    X(sqlite3_reset)                                                                                                   \
    X(sqlite3_step)

struct cw_sqlite {
#define X(name) __typeof__(name) *name;
    CW_SQLITE_FUNCTIONS(X)
#undef X
};

/* CW_ERR_UNSUPPORTED where the library is missing. */
enum cw_status cw_sqlite_load(const struct cw_sqlite **functions, struct cw_error *err);

#endif
