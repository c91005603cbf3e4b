#include "foreign/chip.h"

#include "metricdb/chip_files.h"

enum cw_status cw_foreign_chip(const char **file, const char **chip, const char *product, const char *capability,
                               struct cw_arena *arena, struct cw_error *err)
{
    const char *const names[] = {product, capability};
    enum cw_status status = CW_ERR_USAGE;
    struct cw_error own = CW_ERROR_INIT;
    for (int i = 0; i < 2 && status == CW_ERR_USAGE; i++) {
        own = (struct cw_error)CW_ERROR_INIT;
        status = cw_chip_file_find(file, chip, NULL, names[i], arena, &own);
    }
    if (status != CW_OK && status != CW_ERR_USAGE && err)
        *err = own;
    return status;
}
