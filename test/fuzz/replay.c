// Replays a corpus: every file of a directory is fed to the fuzz target, in the order of names.
//
// One TAP line per file, so that a crash is pinned to the input that made it: the line that is
// missing. The bytes are in a block of exactly their size, so that sanitizers see one too many.
//   [replay-1] An empty or missing corpus is a failure: a test that cannot fail is worse than none.
#include "fuzz.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_input(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static uint8_t *read_input(const char *path, size_t *ret_size) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    if (fseek(file, 0, SEEK_END) != 0) abort();
    long size = ftell(file);
    if (size < 0 || fseek(file, 0, SEEK_SET) != 0) abort();
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size) abort();
    fclose(file);
    *ret_size = (size_t)size;
    return data;
}

int main(int argc, char **argv) {
    struct dirent **entries = NULL;
    int count = argc == 2 ? scandir(argv[1], &entries, is_input, alphasort) : -1;
    if (count <= 0) {
        fprintf(stderr, "usage: %s CORPUS_DIRECTORY (with files in it)\n", argv[0]);
        return 2; // [replay-1]
    }
    printf("1..%d\n", count);
    for (int i = 0; i < count; i++) {
        char path[4096];
        size_t size = 0;
        snprintf(path, sizeof(path), "%s/%s", argv[1], entries[i]->d_name);
        uint8_t *data = read_input(path, &size);
        if (data) LLVMFuzzerTestOneInput(data, size);
        printf("%s %d - %s\n", data ? "ok" : "not ok", i + 1, entries[i]->d_name);
        fflush(stdout);
        free(data);
        free(entries[i]);
    }
    free(entries);
    return 0;
}
