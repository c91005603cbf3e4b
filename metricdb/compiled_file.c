#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "metricdb/compiled.h"

enum { LARGEST_FILE = 256 << 20 };

bool cw_compiled_folder(char path[CW_PATH_MAX])
{
    char share[CW_PATH_MAX];
    return cw_data_beside(share) && snprintf(path, CW_PATH_MAX, "%s/compiled", share) < CW_PATH_MAX;
}

const char *cw_compiled_name(const char *path, char name[CW_PATH_MAX])
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    snprintf(name, CW_PATH_MAX, "%.*s.cwchip", dot ? (int)(dot - base) : (int)strlen(base), base);
    return name;
}

bool cw_compiled_load(const struct cw_chip **chip, const char *path, const uint8_t hash[16], struct cw_arena *arena)
{
    char folder[CW_PATH_MAX], name[CW_PATH_MAX], file[2 * CW_PATH_MAX];
    if (!cw_compiled_folder(folder))
        return false;
    snprintf(file, sizeof file, "%s/%s", folder, cw_compiled_name(path, name));
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct stat st;
    void *data = MAP_FAILED;
    size_t size = 0;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= LARGEST_FILE) {
        size = (size_t)st.st_size;
        data = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    }
    close(fd);
    if (data == MAP_FAILED)
        return false;
    bool held = cw_compiled_read(chip, data, size, hash, path, arena, NULL) == CW_OK;
    munmap(data, size);
    return held;
}
