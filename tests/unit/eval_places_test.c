#include <criterion/criterion.h>
#include <elf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/utf8.h"
#include "eval/samples/confined.h"
#include "eval/samples/places.h"
#include "eval/samples/texts.h"

static struct cw_arena *arena;
static struct cw_bytes cubin; /* of tests/support/lines.cu */
static struct cw_error err;
static struct cw_writer out;

static void set_up(void)
{
    arena = cw_arena_create();
    cw_writer_init(&out);
    cr_assert(cw_file_read(&cubin, CW_SOURCE_DIR "/tests/support/lines.cubin", 1 << 20, &err) == CW_OK);
}

static void tear_down(void)
{
    cw_writer_free(&out);
    cw_bytes_free(&cubin);
    cw_arena_destroy(arena);
}

TestSuite(places, .init = set_up, .fini = tear_down, .timeout = 600);

/* ---- a child ---------------------------------------------------------------------------------------------------- */

static void send(const char *text, int to)
{
    struct cw_writer w;
    cw_writer_init(&w);
    cw_write_bytes(&w, text, strlen(text));
    cw_confined_send(&w, to);
    cw_writer_free(&w);
}

static void work(void *context, int to)
{
    send("one ", to);
    send(context, to);
}

static void crash(void *context, int to)
{
    send(context, to);
    raise(SIGKILL);
}

static void take_time(void *context, int to)
{
    volatile unsigned n = 0;
    send(context, to);
    for (;;)
        n++;
}

static void take_memory(void *context, int to)
{
    size_t size = 1 << 20;
    char *own = malloc(size);
    for (char *more = own; more && size < (size_t)1 << 30; size *= 2) {
        memset(own, 1, size);
        if ((more = realloc(own, 2 * size)))
            own = more;
    }
    send(size < (size_t)1 << 30 ? context : "all", to);
    free(own);
}

static void send_much(void *context, int to)
{
    for (int i = 0; i < 1000; i++)
        send(context, to);
}

static bool runs(size_t memory, uint32_t ms, cw_confined_work *what, const char *wanted, enum cw_status status)
{
    static char context[] = "two";
    out.size = 0;
    enum cw_status got = cw_confined_run(memory, &ms, what, context, &out);
    return got == status && out.size == strlen(wanted) && (!out.size || memcmp(out.data, wanted, out.size) == 0);
}

Test(places, a_child_hands_over_what_it_did)
{
    cr_expect(runs(1 << 20, 1000, work, "one two", CW_OK));
    cr_expect(runs(1 << 20, 1000, crash, "two", CW_ERR_UNSUPPORTED), "up to its end");
    cr_expect(runs(1 << 20, 20, take_time, "two", CW_ERR_UNSUPPORTED));
    cr_expect(runs(1 << 20, 0, work, "", CW_ERR_UNSUPPORTED), "no time is left");
    uint32_t ms = 1000;
    static char three[] = "two";
    out.size = 0;
    cr_expect(cw_confined_run(100, &ms, send_much, three, &out) == CW_ERR_UNSUPPORTED && out.size <= 100);
}

Test(places, a_child_has_so_much_memory)
{
    cr_expect(runs(64 << 20, 10000, take_memory, cw_confined_limits_memory ? "two" : "all", CW_OK));
}

Test(places, time_that_was_used_is_gone)
{
    static char none[] = "";
    uint32_t ms = 50;
    cr_expect(cw_confined_run(1 << 20, &ms, take_time, none, &out) == CW_ERR_UNSUPPORTED);
    cr_expect(ms <= 25, "found %u ms left", ms);
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

Test(places, equal_texts_are_one)
{
    char b[] = "b", again[] = "b", a[] = "a", empty[] = "";
    const char *const all[] = {b, again, a, b, empty};
    struct cw_texts texts = {0};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        cw_texts_note(&texts, all[i]);
    cr_assert(cw_texts_order(&texts, arena));
    cr_expect(cw_texts_one(&texts, b) == cw_texts_one(&texts, again));
    cr_expect_str_eq(cw_texts_one(&texts, again), "b");
    cr_expect(cw_text_compare(cw_texts_one(&texts, a), cw_texts_one(&texts, b)) < 0);
    cr_expect(cw_text_compare(cw_texts_one(&texts, a), cw_texts_one(&texts, empty)) > 0);
    cw_texts_free(&texts);
}

/* ---- names and lines -------------------------------------------------------------------------------------------- */

enum { MOST = 8 };
static struct cw_place places[MOST];
static struct cw_place *order[MOST];
static struct cw_places_left left;

/* A name whose readable form doubles with each step: f(A<B, B>, A<that, that>, ...). */
static const char *bomb(int steps)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char *name = cw_arena_strdup(arena, "_Z1f1AI1BS0_E");
    for (int i = 1; i <= steps; i++) /* substitution number i + 1 is S1_ for 2 */
        name = i < 36 ? cw_arena_printf(arena, "%sS_IS%c_S%c_E", name, digits[i], digits[i]) : name;
    return name;
}

static void resolve(const char *const *functions, size_t count, const struct cw_module *modules, uint32_t module_count)
{
    for (size_t i = 0; i < count; i++) {
        places[i] = (struct cw_place){.function = functions[i], .module = i, .offset = 0x10};
        order[i] = &places[i];
    }
    cr_assert(cw_places_resolve(order, count, modules, module_count, NULL, &left, arena, &err) == CW_OK);
}

Test(places, names_are_readable)
{
    const char *const functions[] = {"_Z5firstPf", "plain", "_Z6secondPfPKf", "_Zwhat", bomb(3)};
    resolve(functions, 5, NULL, 0);
    cr_expect_str_eq(places[0].name, "first(float*)");
    cr_expect_str_eq(places[1].name, "plain");
    cr_expect_str_eq(places[2].name, "second(float*, float const*)");
    cr_expect_str_eq(places[3].name, "_Zwhat");
    cr_expect(strncmp(places[4].name, "f(A<B, B>, A<A<B, B>, A<B, B> >, ", 33) == 0, "%s", places[4].name);
    cr_expect(left.names == 0 && left.modules == 0);
    for (int i = 0; i < 5; i++)
        cr_expect(!*places[i].file && !places[i].line);
}

/* 2^30 times what it says: the others are readable nevertheless. */
Test(places, a_name_that_grows_without_end_stays_as_it_is)
{
    const char *const functions[] = {"_Z5firstPf", bomb(12), bomb(30), "_Z6secondPfPKf"};
    resolve(functions, 4, NULL, 0);
    cr_expect_str_eq(places[0].name, "first(float*)");
    cr_expect(places[1].name == functions[1] && places[2].name == functions[2]);
    cr_expect(left.names >= 2 && left.modules == 0);
}

Test(places, bytes_of_a_name_are_text)
{
    const char *const functions[] = {"_ZN1\xc3"
                                     "1\xa9"
                                     "E"};
    resolve(functions, 1, NULL, 0);
    cr_expect(cw_utf8_holds(places[0].name, strlen(places[0].name)), "%s", places[0].name);
}

/* The cubin with its first section marked as compressed. */
static const uint8_t *compressed_cubin(void)
{
    uint8_t *code = cw_arena_alloc(arena, cubin.size, 1);
    cr_assert(code);
    memcpy(code, cubin.data, cubin.size);
    Elf64_Ehdr header;
    memcpy(&header, code, sizeof header);
    uint8_t *at = code + header.e_shoff + header.e_shentsize + offsetof(Elf64_Shdr, sh_flags);
    at[1] |= SHF_COMPRESSED >> 8;
    return code;
}

Test(places, lines_of_modules)
{
    const struct cw_module modules[] = {{3, (const uint8_t *)"no ELF", 6},
                                        {2, compressed_cubin(), cubin.size},
                                        {0xabcd00000000, cubin.data, cubin.size},
                                        {0, (const uint8_t *)"", 0},
                                        {1, cubin.data, cubin.size}};
    const char *const functions[] = {"_Z5firstPf", "_Z6secondPfPKf", "_Z5firstPf", "_Z5firstPf", "_Z5firstPf"};
    resolve(functions, 5, modules, 5);
    cr_expect(places[0].line == 4 && strcmp(places[0].file, "/kernels/lines.cu") == 0, "the first of its number");
    cr_expect(places[1].line && strcmp(places[1].file, "/kernels/lines.cu") == 0);
    for (int i = 2; i < 5; i++)
        cr_expect(!places[i].line && !*places[i].file, "place %d", i);
    cr_expect(left.modules == 1 && left.names == 0, "the compressed one");
}
