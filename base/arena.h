/* Memory that lives and dies together: one arena for each loaded database, image or plan.
 *
 * Blocks are zeroed and aligned to 16 bytes. Under the address sanitizer every allocation is a malloc of
 * its own, so that overruns inside an arena are seen. */
#ifndef CW_BASE_ARENA_H
#define CW_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define CW_ADDRESS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CW_ADDRESS_SANITIZED 1
#endif
#endif
#ifndef CW_ADDRESS_SANITIZED
#define CW_ADDRESS_SANITIZED 0
#endif

struct cw_arena;

/* NULL when out of memory. */
struct cw_arena *cw_arena_create(void);
/* Frees everything allocated from it. NULL is allowed. */
void cw_arena_destroy(struct cw_arena *arena);

/* NULL when out of memory or when count * size overflows; a zero size yields a valid pointer. */
void *cw_arena_alloc(struct cw_arena *arena, size_t count, size_t size);
/* Takes over `memory` of malloc or realloc and frees it with the arena; NULL is allowed. Returns false when out of
 * memory, and has freed `memory` then. */
bool cw_arena_adopt(struct cw_arena *arena, void *memory);
/* Calls `finish` before the arena frees anything. Returns false when out of memory, and has called it then. */
bool cw_arena_at_end(struct cw_arena *arena, void (*finish)(void *), void *of);
/* Makes room for one more item behind `count` items in malloc memory with room for *room items. Returns the items,
 * which may have moved, or NULL when out of memory; `items` stays valid then. */
void *cw_grown(void *items, size_t *room, size_t count, size_t size);
char *cw_arena_strdup(struct cw_arena *arena, const char *text);
char *cw_arena_strndup(struct cw_arena *arena, const char *text, size_t length);
char *cw_arena_printf(struct cw_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
