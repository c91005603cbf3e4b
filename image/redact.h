/* Leaves private content out of the chunks of a capture: texts as image/capture_texts.h judges them, and code of
 * kernels. Equal texts get equal replacements, so that rows stay grouped as they were. */
#ifndef CW_IMAGE_REDACT_H
#define CW_IMAGE_REDACT_H

#include "image/capture_texts.h"

struct cw_redactor;

/* NULL when out of memory. */
struct cw_redactor *cw_redactor_create(void);
void cw_redactor_destroy(struct cw_redactor *redactor);

/* Notes the texts that no replacement of a path may equal. Call it for each chunk of each input before cw_redact.
 * CW_ERR_NOMEM only. */
enum cw_status cw_redactor_note(struct cw_redactor *redactor, const struct cw_chunk *chunk);

/* Replaces the chunk's payload; the new one is valid until the next call. *kept is false for a chunk to leave out. The
 * chunk is whole and valid. `uses`: of the capture's trace, or NULL. CW_ERR_NOMEM only. */
enum cw_status cw_redact(struct cw_redactor *redactor, struct cw_chunk *chunk, uint8_t *const *uses, bool *kept);

/* Length of the path of a file at `text + at`: "/a/b" or "~/a" where no name is in front, also in quotes or with blanks
 * between its parts, and the part of an address behind "https:"; 0: none, and none begins in the next *passed bytes.
 * See docs/privacy.md. */
size_t cw_path_length(const char *text, size_t at, size_t *passed);

#endif
