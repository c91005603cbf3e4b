#define _GNU_SOURCE
#include "agent/inject/ranges/user_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "agent/inject/driver/say.h"
#include "agent/inject/ranges/mode.h"
#include "base/utf8.h"

static struct {
    struct cw_nesting open;
    const struct cw_filter *filter; /* NULL until the setup is known */
} state CW_STATE;
#define self (&state)

enum { LONGEST_NAME = 1000 };

/* Writes a control character as people write it: \n, \x1b. Returns its length. */
static size_t escape(char to[4], unsigned char c)
{
    static const char digits[] = "0123456789abcdef", letters[] = "abtnvfr"; /* from 7 on */
    to[0] = '\\';
    if (c >= '\a' && c <= '\r') {
        to[1] = letters[c - '\a'];
        return 2;
    }
    to[1] = 'x';
    to[2] = digits[c >> 4];
    to[3] = digits[c & 15];
    return 4;
}

/* Cleans a name, which may have any bytes, into one line of UTF-8. `to` has room for LONGEST_NAME bytes and a NUL. */
static void clean(char *to, const char *from)
{
    size_t n = 0;
    for (; *from; from++) {
        char one[4] = {*from};
        const bool control = (unsigned char)*from < ' ' || *from == 0x7f;
        const size_t length = control ? escape(one, (unsigned char)*from) : 1;
        if (n + length > LONGEST_NAME)
            break;
        memcpy(to + n, one, length);
        n += length;
    }
    while (*from && n && ((unsigned char)*from & 0xc0) == 0x80) { /* not within a character */
        from--;
        n--;
    }
    to[n] = 0;
    cw_utf8_force(to, n);
}

static const struct cw_inject_mode *mode(void)
{
    return cw_inject->over ? NULL : cw_inject->mode;
}

static uint64_t open_range(uint64_t domain, const char *name, bool process_wide)
{
    char text[LONGEST_NAME + 1];
    clean(text, name);
    const struct cw_open_range *range = cw_nesting_open(&self->open, cw_inject_thread(), domain, process_wide,
                                                        !self->filter || cw_filter_range(self->filter, text), text);
    if (!range && cw_nesting_warning(&self->open))
        cw_say("%s", cw_nesting_warning(&self->open));
    if (!range)
        return 0;
    const struct cw_open_range opened = *range; /* while the mode waits, ranges of other threads come and go */
    const struct cw_inject_mode *now = mode();
    if (now && now->range_opened)
        now->range_opened(&opened);
    return opened.id;
}

static void end_range(const struct cw_open_range *range)
{
    const struct cw_open_range closing = *range;
    const struct cw_inject_mode *now = mode();
    if (now && now->range_closing)
        now->range_closing(&closing);
    cw_nesting_close(&self->open, closing.id);
}

uint64_t cw_user_range_start(uint64_t domain, const char *name)
{
    if (!cw_inject_lock())
        return 0;
    uint64_t id = open_range(domain, name, true);
    cw_inject_unlock();
    return id;
}

void cw_user_range_end(uint64_t id)
{
    if (!cw_inject_lock())
        return;
    for (uint32_t i = 0; i < self->open.count; i++)
        if (self->open.open[i].id == id && self->open.open[i].process_wide) {
            end_range(&self->open.open[i]);
            break;
        }
    cw_inject_unlock();
}

int cw_user_range_push(uint64_t domain, const char *name)
{
    if (!cw_inject_lock())
        return -1;
    int depth = (int)cw_nesting_depth(&self->open, cw_inject_thread(), domain);
    if (!open_range(domain, name, false))
        depth = -1;
    cw_inject_unlock();
    return depth;
}

int cw_user_range_pop(uint64_t domain)
{
    if (!cw_inject_lock())
        return -1;
    const bool unknown = cw_nesting_pop_unknown(&self->open, cw_inject_thread(), domain);
    const struct cw_open_range *range = unknown ? NULL : cw_nesting_innermost(&self->open, cw_inject_thread(), domain);
    int depth = unknown ? -1 : (int)cw_nesting_depth(&self->open, cw_inject_thread(), domain) - 1;
    if (range)
        end_range(range);
    cw_inject_unlock();
    return depth;
}

char *cw_user_ranges_path(uint64_t id)
{
    struct cw_writer path;
    cw_writer_init(&path);
    cw_nesting_path(&self->open, cw_inject_thread(), id, &path);
    cw_write_u8(&path, 0);
    char *text = path.status == CW_OK ? strdup((const char *)path.data) : NULL;
    cw_writer_free(&path);
    return text;
}

bool cw_user_ranges_wanted(void)
{
    return cw_nesting_wanted(&self->open, cw_inject_thread());
}

uint32_t cw_user_ranges_wanted_count(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < self->open.count; i++)
        count += self->open.open[i].wanted;
    return count;
}

static bool is_wanted(const void *user, const char *name)
{
    return !user || cw_filter_range(user, name);
}

const struct cw_open_range *cw_user_ranges_at_level(uint32_t level)
{
    return cw_nesting_at_level(&self->open, level);
}

void cw_user_ranges_filter(const struct cw_filter *filter)
{
    self->filter = filter;
    cw_nesting_review(&self->open, is_wanted, filter);
}

void cw_user_ranges_forget(void)
{
    self->open.count = self->open.pushed.count = 0; /* their names may be freed already */
}
