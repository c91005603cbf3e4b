/* Runs a fuzz target over files, so that its corpus is part of the ordinary tests: replay_NAME [--mutants N]
 * FILE_OR_FOLDER... With --mutants also over N changes of each file, where the target has a mutator. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/file.h"
#include "tests/fuzz/fuzz.h"

#pragma weak LLVMFuzzerCustomMutator

static size_t replayed;
static unsigned mutants;

/* In a block of the exact size, so that the address sanitizer sees a read past the end. */
static bool replay_bytes(const void *bytes, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact)
        return false;
    memcpy(exact, bytes, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    replayed++;
    return true;
}

static bool replay_mutants(const struct cw_bytes *bytes)
{
    const size_t room = bytes->size + 4096;
    uint8_t *mutant = malloc(room);
    bool done = mutant != NULL;
    for (unsigned i = 0; i < mutants && done; i++) {
        memcpy(mutant, bytes->data, bytes->size);
        done = replay_bytes(mutant, LLVMFuzzerCustomMutator(mutant, bytes->size, room, i * 7919));
    }
    free(mutant);
    return done;
}

static bool replay_file(const char *path)
{
    struct cw_error err = CW_ERROR_INIT;
    struct cw_bytes bytes;
    char text[1200];
    if (cw_file_read(&bytes, path, 1 << 26, &err) != CW_OK) {
        fprintf(stderr, "%s\n", cw_error_format(&err, text, sizeof text));
        return false;
    }
    const bool done = mutants ? replay_mutants(&bytes) : replay_bytes(bytes.data, bytes.size);
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
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "--mutants") == 0 && LLVMFuzzerCustomMutator) {
        mutants = (unsigned)strtoul(argv[2], NULL, 10);
        first = 3;
    }
    bool done = argc > first;
    for (int i = first; i < argc; i++)
        done = replay_folder(argv[i]) && done;
    fprintf(stderr, "%zu inputs replayed\n", replayed);
    return done && replayed > 0 ? 0 : 1;
}
