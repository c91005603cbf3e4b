#define _GNU_SOURCE
#include "metricdb/text_hash.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static void set_canonical(uint8_t hash[16], XXH128_hash_t value)
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, value);
    memcpy(hash, canonical.digest, sizeof canonical.digest);
}

void cw_text_hash(uint8_t hash[16], const void *data, size_t size)
{
    set_canonical(hash, XXH3_128bits(data, size));
}

bool cw_text_hash_file(uint8_t hash[16], const char *path)
{
    XXH3_state_t state;
    uint8_t buffer[32 << 10];
    struct stat st;
    ssize_t n = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    XXH3_128bits_reset(&state);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        while ((n = read(fd, buffer, sizeof buffer)) > 0)
            XXH3_128bits_update(&state, buffer, (size_t)n);
    if (fd >= 0)
        close(fd);
    set_canonical(hash, XXH3_128bits_digest(&state));
    return n == 0;
}
