/* Runs a fuzz target over files, so that its corpus is part of the ordinary tests: replay_NAME FILE_OR_FOLDER... */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/file.h"
#include "tests/fuzz/fuzz.h"

static size_t replayed;

static bool replay_file(const char *path)
{
    struct cw_error err = CW_ERROR_INIT;
    struct cw_bytes bytes;
    char text[1200];
    if (cw_file_read(&bytes, path, 1 << 26, &err) != CW_OK) {
        fprintf(stderr, "%s\n", cw_error_format(&err, text, sizeof text));
        return false;
    }
    /* a block of the exact size, so that the address sanitizer sees a read past the end */
    uint8_t *exact = malloc(bytes.size ? bytes.size : 1);
    if (exact) {
        memcpy(exact, bytes.data, bytes.size);
        LLVMFuzzerTestOneInput(exact, bytes.size);
        replayed++;
    }
    bool done = exact != NULL;
    free(exact);
    cw_bytes_free(&bytes);
    return done;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static bool replay_folder(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_visible, alphasort);
    if (count < 0)
        return errno == ENOTDIR ? replay_file(path) : (perror(path), false);
    bool done = true;
    for (int i = 0; i < count; i++) {
        char *file;
        if (asprintf(&file, "%s/%s", path, entries[i]->d_name) < 0) {
            done = false;
        } else {
            done = replay_file(file) && done;
            free(file);
        }
        free(entries[i]);
    }
    free(entries);
    return done;
}

int main(int argc, char **argv)
{
    bool done = argc > 1;
    for (int i = 1; i < argc; i++)
        done = replay_folder(argv[i]) && done;
    fprintf(stderr, "%zu inputs replayed\n", replayed);
    return done && replayed > 0 ? 0 : 1;
}
