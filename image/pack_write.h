/* Packs chunks as they are written, if that is shorter: chunks of the same kernel and shape on all ranks of a job. */
#ifndef CW_IMAGE_PACK_WRITE_H
#define CW_IMAGE_PACK_WRITE_H

#include "image/pack.h"
#include "image/schema.h"

struct cw_packer;

/* Creates a packer for a file that begins with a header and comes in pieces of whole chunks. The packer holds back
 * packed chunks until some 32 MB have come together. Borrows the schema of the chunks. NULL when out of memory. */
struct cw_packer *cw_packer_create(const struct cw_schema *schema);
/* Takes the next piece and appends finished output to `out`. Fails with CW_ERR_NOMEM only. */
enum cw_status cw_packer_take(struct cw_packer *packer, const void *data, size_t size, struct cw_writer *out);
/* Appends the output that was held back. Fails with CW_ERR_NOMEM only. */
enum cw_status cw_packer_finish(struct cw_packer *packer, struct cw_writer *out);
void cw_packer_destroy(struct cw_packer *packer);

#endif
