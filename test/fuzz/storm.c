// Storm: feeds a fuzz target with millions of damaged copies of its corpus.
//
//   storm-snapshot CORPUS_DIRECTORY COUNT [SEED]
//
// Where libFuzzer looks for new paths, this one is after numbers: no eyes in the code, so it runs
// at the speed of the target. Each input is a file of the corpus with one to eight changes: bits,
// bytes, numbers from the edges, pieces taken out, doubled, or from another file.
//   [storm-1] The same corpus, count and seed make the same inputs.
//   [storm-2] The input at hand is in the file storm.input, whatever becomes of the process.
#include "fuzz.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { INPUT_MAX = 1 << 16, REPORT_EVERY = 100000 };

typedef struct Input {
    uint8_t *data;
    size_t size;
} Input;

static uint64_t random_state;

static uint64_t random_number(void) { // xorshift
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static size_t below(size_t limit) { return (size_t)(random_number() % limit); }

static int is_input(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static Input read_input(const char *directory, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    Input input = {.data = malloc(INPUT_MAX)};
    FILE *file = fopen(path, "rb");
    if (file == NULL || input.data == NULL) abort();
    input.size = fread(input.data, 1, INPUT_MAX / 2, file);
    fclose(file);
    return input;
}

static void remove_piece(Input *input) {
    size_t at = below(input->size), len = 1 + below(input->size - at);
    if (len > 16) len = 1 + below(16);
    memmove(input->data + at, input->data + at + len, input->size - at - len);
    input->size -= len;
}

static void insert_piece(Input *input, const uint8_t *piece, size_t len) {
    if (input->size + len > INPUT_MAX / 2) return;
    size_t at = below(input->size + 1);
    memmove(input->data + at + len, input->data + at, input->size - at);
    memcpy(input->data + at, piece, len);
    input->size += len;
}

static void change(Input *input, const Input *other) {
    static const uint8_t edges[] = {0, 1, 0x7f, 0x80, 0xff, 0xfe, 0x3f, 0x40};
    uint8_t piece[32];
    if (input->size == 0) {
        insert_piece(input, edges, 1 + below(sizeof edges));
        return;
    }
    size_t at = below(input->size);
    switch (below(7)) {
    case 0: input->data[at] ^= (uint8_t)(1u << below(8)); break;
    case 1: input->data[at] = (uint8_t)random_number(); break;
    case 2: input->data[at] = edges[below(sizeof edges)]; break;
    case 3: input->data[at] = (uint8_t)(input->data[at] + (random_number() & 1 ? 1 : -1)); break;
    case 4: remove_piece(input); break;
    case 5: { // a piece of itself once more
        size_t len = 1 + below(sizeof piece);
        if (len > input->size - at) len = input->size - at;
        memcpy(piece, input->data + at, len);
        insert_piece(input, piece, len);
        break;
    }
    default:
        if (other->size == 0) break;
        at = below(other->size);
        insert_piece(input, other->data + at, 1 + below(other->size - at) % sizeof piece);
    }
}

static uint8_t *map_record(void) { // [storm-2]
    int fd = open("storm.input", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, INPUT_MAX) != 0) abort();
    void *record = mmap(NULL, INPUT_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (record == MAP_FAILED) abort();
    return record;
}

static void feed(const Input *input, uint8_t *record) {
    uint32_t size = (uint32_t)input->size;
    memcpy(record, &size, sizeof size);
    memcpy(record + sizeof size, input->data, input->size);
    uint8_t *exact = malloc(input->size > 0 ? input->size : 1); // one too many is seen
    if (exact == NULL) abort();
    memcpy(exact, input->data, input->size);
    LLVMFuzzerTestOneInput(exact, input->size);
    free(exact);
}

int main(int argc, char **argv) {
    struct dirent **entries = NULL;
    int file_count = argc >= 3 ? scandir(argv[1], &entries, is_input, alphasort) : -1;
    long long count = argc >= 3 ? strtoll(argv[2], NULL, 10) : 0;
    if (file_count <= 0 || count <= 0) {
        fprintf(stderr, "usage: %s CORPUS_DIRECTORY COUNT [SEED]\n", argv[0]);
        return 2;
    }
    random_state = argc > 3 ? strtoull(argv[3], NULL, 10) * 2 + 1 : 88172645463325252u;
    Input *corpus = calloc((size_t)file_count, sizeof(Input));
    Input input = {.data = malloc(INPUT_MAX)};
    if (corpus == NULL || input.data == NULL) abort();
    for (int i = 0; i < file_count; i++) corpus[i] = read_input(argv[1], entries[i]->d_name);
    uint8_t *record = map_record();
    for (long long i = 0; i < count; i++) {
        const Input *base = &corpus[below((size_t)file_count)];
        memcpy(input.data, base->data, base->size);
        input.size = base->size;
        for (size_t changes = 1 + below(8); changes > 0; changes--)
            change(&input, &corpus[below((size_t)file_count)]);
        feed(&input, record);
        if ((i + 1) % REPORT_EVERY == 0) fprintf(stderr, "%lld inputs\n", i + 1);
    }
    printf("%lld inputs, none of them did harm\n", count);
    for (int i = 0; i < file_count; i++) {
        free(corpus[i].data);
        free(entries[i]);
    }
    free(corpus);
    free(entries);
    free(input.data);
    return 0;
}
