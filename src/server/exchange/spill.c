// Answers that are too long for memory go to a file, and from there to the client.
//
//   [spill-1] The file has no name: whatever happens to the server, nothing of it stays behind.
//   [spill-2] Files and the bytes in them have a ceiling, over all answers that are under way: slow
//        readers with a right to read cannot fill the disk. Over it the next one is answered 503.
//   [spill-3] What an answer holds is counted until its exchange ends, although the file is the
//        library's from when it is sent.
//
// Not here: the bytes on the wire (http.c).
#include "server/server.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    ANSWER_SPILL_SIZE = 1 << 20, // what is written at a time
    SPILL_FILES_MAX = 16
};

// [spill-3]
void exchange_drop_spill(Exchange *exchange) {
    Server *server = exchange->server;
    if (exchange->spilled_size > 0) close(exchange->spill_file);
    exchange->spilled_size = 0;
    if (exchange->spill_held == 0) return;
    atomic_fetch_sub(&server->spilled_bytes, exchange->spill_held);
    atomic_fetch_sub(&server->spill_count, 1);
    exchange->spill_held = 0;
}

// [spill-2]
static bool hold_spill(Exchange *exchange, int64_t size) {
    Server *server = exchange->server;
    int64_t max = exchange->policy->limits.spill_size;
    bool is_first = exchange->spill_held == 0;
    int64_t count = is_first ? atomic_fetch_add(&server->spill_count, 1) : 0;
    int64_t held = atomic_fetch_add(&server->spilled_bytes, size);
    exchange->spill_held += size; // dropping it takes it all back
    return count < SPILL_FILES_MAX && held + size <= max;
}

static bool open_spill(Exchange *exchange) { // [spill-1]
    const char *folder = getenv("TMPDIR");
    char path[1024];
    if (folder == NULL) folder = "/tmp";
    exchange->spill_file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (exchange->spill_file >= 0) return true;
    // Not every file system has files without names.
    snprintf(path, sizeof path, "%s/abide-XXXXXX", folder);
    exchange->spill_file = mkostemp(path, O_CLOEXEC);
    if (exchange->spill_file < 0) return false;
    unlink(path);
    return true;
}

static bool write_spill(Exchange *exchange) {
    Str left = buf_str(&exchange->answer);
    if (exchange->spilled_size == 0 && !open_spill(exchange)) return false;
    exchange->spilled_size += (int64_t)left.len;
    while (left.len > 0) {
        ssize_t count = write(exchange->spill_file, left.data, left.len);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        left = (Str){left.data + count, left.len - (size_t)count};
    }
    buf_clear(&exchange->answer);
    return true;
}

bool exchange_spill_rest(Exchange *exchange) {
    if (exchange->answer.len == 0) return true;
    bool has_room = hold_spill(exchange, (int64_t)exchange->answer.len);
    if (has_room && write_spill(exchange)) return true;
    int error = errno;
    exchange_drop_spill(exchange);
    if (has_room) {
        exchange_refuse_with(exchange, ERR_UNAVAILABLE, "SERVER_BUSY",
                             "a long answer could not be written to a temporary file (%s): make "
                             "room in $TMPDIR, or ask for fewer items with limit=",
                             strerror(error));
        return false;
    }
    exchange_refuse_with(exchange, ERR_UNAVAILABLE, "SERVER_BUSY",
                         "long answers under way take %d temporary files or %lld MiB together; try "
                         "again, or ask for fewer items with limit=",
                         SPILL_FILES_MAX, (long long)exchange->policy->limits.spill_size >> 20);
    return false;
}

bool exchange_spill(Exchange *exchange) {
    return exchange->answer.len < ANSWER_SPILL_SIZE || exchange_spill_rest(exchange);
}
