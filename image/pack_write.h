/* Chunks that are written are packed where that is shorter: those that launches of one kernel and shape have, on all
 * ranks of a job. */
#ifndef CW_IMAGE_PACK_WRITE_H
#define CW_IMAGE_PACK_WRITE_H

#include "image/pack.h"
#include "image/schema.h"

struct cw_packer;

/* Takes a file that begins with a header, in pieces of whole chunks. What is packed is held back until some 32 MB have
 * come together. The schema is what the chunks are of; it is borrowed. NULL when out of memory. */
struct cw_packer *cw_packer_create(const struct cw_schema *schema);
/* Appends what can be written to `out`. CW_ERR_NOMEM alone. */
enum cw_status cw_packer_take(struct cw_packer *packer, const void *data, size_t size, struct cw_writer *out);
/* The same of what was held back. */
enum cw_status cw_packer_finish(struct cw_packer *packer, struct cw_writer *out);
void cw_packer_destroy(struct cw_packer *packer);

#endif
