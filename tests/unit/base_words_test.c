#include <criterion/criterion.h>
#include <string.h>

#include "base/words.h"

static struct cw_word word(const char *text)
{
    return (struct cw_word){text, strlen(text)};
}

Test(words, next)
{
    const char *text = "  L2 hit_rate.pct";
    static const char *const words[] = {"L2", "hit", "rate", "pct"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        cr_expect(cw_word_same(cw_word_next(&text), word(words[i])), "%s", words[i]);
    cr_expect(cw_word_next(&text).length == 0);
    cr_expect(cw_word_next(&text).length == 0);
    cr_expect(cw_word_same(word("hit"), word("HIT")) && !cw_word_same(word("hit"), word("hits")));
}

/* All forms in a line are of one word. */
Test(words, forms)
{
    static const char *const lines[] = {"spill spills Spilled spilling",
                                        "stall stalls stalled stalling",
                                        "hit hits hitting",
                                        "miss misses missed missing",
                                        "cache caches cached caching",
                                        "divergence diverge diverged diverging divergent",
                                        "latency latencies",
                                        "occupancy occupied",
                                        "execute executes executed executing execution",
                                        "instruction instructions",
                                        "coalesce coalesced coalescing",
                                        "read reads reading",
                                        "limit limits limited limiting limiter",
                                        "access accesses accessed accessing",
                                        "dependency dependencies dependent",
                                        "branch branches branching"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const char *text = lines[i];
        const struct cw_word first = cw_word_next(&text);
        for (struct cw_word form = cw_word_next(&text); form.length; form = cw_word_next(&text))
            cr_expect(cw_word_alike(first, form), "%.*s in: %s", (int)form.length, form.text, lines[i]);
    }
}

Test(words, others)
{
    static const char *const pairs[][2] = {{"string", "str"},  {"speed", "spe"},     {"bus", "busy"},
                                           {"pass", "pas"},    {"red", "r"},         {"region", "regent"},
                                           {"used", "us"},     {"fp16", "fp1"},      {"load", "loads2"},
                                           {"vector", "vect"}, {"section", "sector"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        cr_expect(!cw_word_alike(word(pairs[i][0]), word(pairs[i][1])), "%s and %s", pairs[i][0], pairs[i][1]);
    cr_expect(cw_word_alike(word("s"), word("S")) && !cw_word_alike(word("s"), word("")));
}
