#define _GNU_SOURCE
#include "base/decimal.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Finds the shortest decimal that reads back as the number, and the nearest one if several are as short: the Schubfach
 * algorithm of R. Giulietti, The Schubfach way to render doubles, 2020. Variables have the names of that paper. */

/* ---- powers of ten ---------------------------------------------------------------------------------------------- */

enum { LEAST_POWER = -292, GREATEST_POWER = 324, WORDS = 18 };

/* 10^k = g 2^r, where 2^127 <= g < 2^128, rounded up. */
struct power {
    uint64_t high, low;
};
static struct power powers[GREATEST_POWER - LEAST_POWER + 1];

/* A natural number, its lowest word first. */
struct natural {
    uint64_t word[WORDS];
};

static void times_ten(struct natural *n)
{
    unsigned __int128 carry = 0;
    for (int i = 0; i < WORDS; i++) {
        carry += (unsigned __int128)n->word[i] * 10;
        n->word[i] = (uint64_t)carry;
        carry >>= 64;
    }
}

static int bit_length(const struct natural *n)
{
    int i = WORDS - 1;
    while (!n->word[i])
        i--;
    return 64 * (i + 1) - __builtin_clzll(n->word[i]);
}

/* Rounds down: k divisions by ten give the same result as one by 10^k. */
static void divide_by_ten(struct natural *n)
{
    uint64_t rest = 0;
    for (int i = WORDS - 1; i >= 0; i--) {
        const uint64_t high = rest << 32 | n->word[i] >> 32, low = high % 10 << 32 | (uint32_t)n->word[i];
        n->word[i] = high / 10 << 32 | low / 10;
        rest = low % 10;
    }
}

/* The 64 bits in front of bit `end`; bits below bit 0 read as 0. */
static uint64_t bits_before(const struct natural *n, int end)
{
    const int top = (end - 1) / 64, used = end - 64 * top;
    if (end <= 0)
        return 0;
    return used == 64 ? n->word[top] : n->word[top] << (64 - used) | (top ? n->word[top - 1] >> used : 0);
}

/* The leading 128 bits; `more`: the number itself has further bits. */
static struct power front(const struct natural *n, bool more)
{
    const int length = bit_length(n);
    struct power p = {bits_before(n, length), bits_before(n, length - 64)};
    for (int end = length - 128; end > 0 && !more; end -= 64)
        more = bits_before(n, end);
    if (more) {
        p.low++;
        p.high += !p.low;
    }
    return p;
}

static void make_powers(void)
{
    struct natural up = {{1}}, down = {{[WORDS - 1] = (uint64_t)1 << 63}};
    for (int k = 0; k <= GREATEST_POWER; k++, times_ten(&up))
        powers[k - LEAST_POWER] = front(&up, false);
    for (int k = -1; k >= LEAST_POWER; k--) {
        divide_by_ten(&down);
        powers[k - LEAST_POWER] = front(&down, true);
    }
}

/* ---- digits ----------------------------------------------------------------------------------------------------- */

struct decimal { /* digits * 10^exponent */
    uint64_t digits;
    int exponent;
};

static uint64_t round_to_odd(struct power g, uint64_t cp)
{
    const unsigned __int128 x = (unsigned __int128)g.low * cp;
    const unsigned __int128 y = (unsigned __int128)g.high * cp + (uint64_t)(x >> 64);
    return (uint64_t)(y >> 64) | ((uint64_t)y > 1);
}

static int floor_log2_of_power(int k)
{
    return (k * 1741647) >> 19;
}

/* `closer`: the neighbour below is nearer than the one above. */
static int floor_log10_of_power_of_2(int q, bool closer)
{
    return (q * 1262611 - (closer ? 524031 : 0)) >> 22;
}

/* Shortest decimal of c * 2^q, for numbers other than whole ones below 2^53. */
static struct decimal shortest(uint64_t c, int q, bool closer)
{
    const bool even = c % 2 == 0;
    const int k = floor_log10_of_power_of_2(q, closer), h = q + floor_log2_of_power(-k) + 1;
    const struct power g = powers[-k - LEAST_POWER];
    const uint64_t vbl = round_to_odd(g, (4 * c - 2 + closer) << h), vb = round_to_odd(g, 4 * c << h),
                   vbr = round_to_odd(g, (4 * c + 2) << h);
    const uint64_t lower = vbl + !even, upper = vbr - !even, s = vb / 4, tens = s / 10;
    const bool low_in = lower <= 40 * tens, high_in = 40 * tens + 40 <= upper;
    if (s >= 10 && low_in != high_in)
        return (struct decimal){tens + high_in, k + 1};
    const bool s_in = lower <= 4 * s, next_in = 4 * s + 4 <= upper;
    if (s_in != next_in)
        return (struct decimal){s + next_in, k};
    const uint64_t middle = 4 * s + 2;
    return (struct decimal){s + (vb > middle || (vb == middle && s % 2)), k};
}

/* Digits of a positive normal number. */
static struct decimal digits_of(uint64_t bits)
{
    const uint64_t fraction = bits & (((uint64_t)1 << 52) - 1), c = fraction | (uint64_t)1 << 52;
    const int q = (int)(bits >> 52) - 1075;
    struct decimal d = -q >= 0 && -q < 53 && (c & (((uint64_t)1 << -q) - 1)) == 0
                           ? (struct decimal){c >> -q, 0}
                           : shortest(c, q, fraction == 0 && bits >> 52 > 1);
    while (d.digits % 10 == 0) {
        d.digits /= 10;
        d.exponent++;
    }
    return d;
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

size_t cw_decimal_u64(uint64_t value, char text[CW_DECIMAL_SIZE])
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445"
        "46474849505152535455565758596061626364656667686970717273747576777879808182838485868788899091"
        "92939495969798"
        "99";
    char reversed[24];
    size_t at = sizeof reversed;
    for (; value >= 100; value /= 100)
        memcpy(reversed + (at -= 2), pairs + 2 * (value % 100), 2);
    if (value >= 10)
        memcpy(reversed + (at -= 2), pairs + 2 * value, 2);
    else
        reversed[--at] = (char)('0' + value);
    memcpy(text, reversed + at, sizeof reversed - at);
    text[sizeof reversed - at] = 0;
    return sizeof reversed - at;
}

/* Prints as %.*g does. */
static size_t print(struct decimal d, char *text)
{
    char digits[CW_DECIMAL_SIZE];
    const int n = (int)cw_decimal_u64(d.digits, digits), x = n - 1 + d.exponent, most = n < 15 ? 15 : n;
    char *at = text;
    if (x < -4 || x >= most) {
        *at++ = digits[0];
        if (n > 1)
            *at++ = '.';
        memcpy(at, digits + 1, (size_t)n - 1);
        at += n - 1;
        return (size_t)(at - text) + (size_t)sprintf(at, "e%+03d", x);
    }
    if (x < 0) {
        memcpy(at, "0.0000", (size_t)(1 - x));
        at += 1 - x;
    }
    for (int i = 0; i < n || i <= x; i++) {
        if (i && i == x + 1)
            *at++ = '.';
        *at++ = i < n ? digits[i] : '0';
    }
    *at = 0;
    return (size_t)(at - text);
}

void *cw_decimal_point_begin(void)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* costs nothing, and is never freed by the C library */
    return plain ? uselocale(plain) : NULL;
}

void cw_decimal_point_end(void *before)
{
    if (before)
        freelocale(uselocale(before));
}

/* For subnormal numbers and for powers of two with many digits: both are rare. */
static size_t print_slowly(double value, char *text)
{
    void *const before = cw_decimal_point_begin();
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, CW_DECIMAL_SIZE, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    cw_decimal_point_end(before);
    return strlen(text);
}

size_t cw_decimal_text(double value, char text[CW_DECIMAL_SIZE])
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const bool minus = bits >> 63 && !isnan(value);
    bits &= ~((uint64_t)1 << 63);
    if (isnan(value) || isinf(value))
        return (size_t)sprintf(text, "%s", isnan(value) ? "nan" : minus ? "-inf" : "inf");
    if (minus)
        *text = '-';
    if (!bits)
        return minus + (size_t)sprintf(text + minus, "0");
    if (bits >> 52 == 0)
        return print_slowly(value, text);
    pthread_once(&once, make_powers);
    const struct decimal d = digits_of(bits);
    /* Below a power of two, numbers lie closer together: the nearest decimal of 16 digits may read back as another
     * number. */
    const bool power = !(bits & (((uint64_t)1 << 52) - 1)), is_long = d.digits >= 1000000000000000;
    return power && is_long ? print_slowly(value, text) : minus + print(d, text + minus);
}

bool cw_decimal_read_u32(const char *text, uint32_t *value)
{
    uint64_t number = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && number <= UINT32_MAX; at++)
        number = 10 * number + (uint64_t)(*at - '0');
    *value = (uint32_t)number;
    return at > text && !*at && number <= UINT32_MAX;
}

/* ---- reading exactly --------------------------------------------------------------------------------------------- */

#define FARTHEST (INT64_C(1) << 62)

static int64_t append(int64_t number, int digit)
{
    return number >= FARTHEST / 10 ? FARTHEST : number * 10 + digit;
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

/* Reads "e-6", which may be missing. NULL where its digits are. */
static const char *take_exponent(const char *at, const char *end, int64_t *exponent)
{
    enum { MOST = 1 << 24 };
    *exponent = 0;
    if (at == end || (*at != 'e' && *at != 'E'))
        return at;
    const bool negative = ++at < end && *at == '-';
    at += at < end && (negative || *at == '+');
    const char *digits = at;
    for (at = skip_digits(at, end); digits < at && *exponent < MOST; digits++)
        *exponent = *exponent * 10 + (*digits - '0');
    *exponent = negative ? -*exponent : *exponent;
    return at[-1] >= '0' && at[-1] <= '9' ? at : NULL;
}

bool cw_decimal_read_shifted(const char *text, size_t size, int shift, int64_t *value)
{
    const char *end = text + size;
    const bool negative = size && *text == '-';
    const char *digits = text + negative, *at = skip_digits(digits, end);
    int64_t exponent, sum = 0, before = at - digits; /* before: digits in front of the point */
    if (at == digits)
        return false;
    if (at < end && *at == '.')
        at = skip_digits(at + 1, end);
    const char *last = at;
    if (take_exponent(at, end, &exponent) != end)
        return false;
    before += shift + exponent;
    for (at = digits; at < last && before >= 0; at++)
        if (*at != '.' && before-- > 0)
            sum = append(sum, *at - '0');
        else if (*at != '.')
            sum += *at >= '5';
    for (; before > 0 && sum && sum < FARTHEST; before--)
        sum = append(sum, 0);
    *value = negative ? -sum : sum;
    return true;
}
