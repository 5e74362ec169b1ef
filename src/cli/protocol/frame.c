// Frames: see frame.h for the format and the limits.
//
// Reading and parsing are apart: a head may arrive in pieces, and several messages at once.
// The input is a buffer of whatever has arrived; a message is taken from its front. What belonged
// to the message before is dropped when the next one is asked for.
#include "cli/protocol/frame.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

enum { READ_SIZE = 1 << 16, INPUT_MAX = FRAME_HEAD_MAX + FRAME_BODY_MAX + READ_SIZE };

void frame_reader_init(FrameReader *reader, int descriptor) {
    *reader = (FrameReader){.descriptor = descriptor};
    buf_init(&reader->input, INPUT_MAX);
}

void frame_reader_done(FrameReader *reader) { buf_done(&reader->input); }

static void drop_front(FrameReader *reader, size_t size) {
    Buf *input = &reader->input;
    if (size == 0) return;
    memmove(input->data, input->data + size, input->len - size);
    input->len -= size;
}

static void drop_used(FrameReader *reader) {
    drop_front(reader, reader->used);
    reader->used = 0;
    size_t skipped = reader->skipped_left < reader->input.len ? reader->skipped_left //
                                                              : reader->input.len;
    drop_front(reader, skipped);
    reader->skipped_left -= skipped;
}

// The length of the head with its empty line; 0 while it is incomplete.
static size_t head_size(const Buf *input) {
    for (size_t i = 3; i < input->len && i < FRAME_HEAD_MAX; i++)
        if (memcmp(input->data + i - 3, "\r\n\r\n", 4) == 0) return i + 1;
    return 0;
}

static bool parse_length(Str digits, size_t *ret_length) {
    size_t length = 0;
    digits = str_trim(digits);
    if (digits.len == 0 || digits.len > 12) return false;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '9') return false;
        length = length * 10 + (size_t)(digits.data[i] - '0');
    }
    *ret_length = length;
    return true;
}

static bool head_length(Str head, size_t *ret_length) {
    static const Str name = STR("content-length:");
    Str line;
    bool is_found = false;
    while (str_split(&head, '\n', &line)) {
        if (line.len < name.len || strncasecmp(line.data, name.data, name.len) != 0) continue;
        if (!parse_length((Str){line.data + name.len, line.len - name.len}, ret_length))
            return false;
        is_found = true;
    }
    return is_found;
}

// FRAME_NONE: more is needed.
static FrameResult take_message(FrameReader *reader, Str *ret_body) {
    Buf *input = &reader->input;
    if (reader->skipped_left > 0) return FRAME_NONE;
    size_t head = head_size(input), length = 0;
    if (head == 0) return input->len >= FRAME_HEAD_MAX ? FRAME_BROKEN : FRAME_NONE;
    if (!head_length((Str){input->data, head}, &length)) return FRAME_BROKEN; // [frame-1]
    if (length > FRAME_BODY_MAX) {
        reader->used = head;
        reader->skipped_left = length;
        return FRAME_TOO_LARGE; // [frame-2]
    }
    if (input->len < head + length) return FRAME_NONE;
    *ret_body = (Str){input->data + head, length};
    reader->used = head + length;
    return FRAME_MESSAGE;
}

// False: nothing more will come, or nothing is there and nobody waits.
static bool read_more(FrameReader *reader, FrameWait wait, FrameResult *ret_result) {
    char chunk[READ_SIZE];
    struct pollfd waited = {.fd = reader->descriptor, .events = POLLIN};
    if (wait == FRAME_LOOK && poll(&waited, 1, 0) <= 0) {
        *ret_result = FRAME_NONE;
        return false;
    }
    ssize_t len = read(reader->descriptor, chunk, sizeof chunk);
    if (len < 0 && errno == EINTR) return true;
    if (len <= 0) {
        *ret_result = FRAME_END;
        return false;
    }
    buf_append(&reader->input, chunk, (size_t)len);
    return true;
}

FrameResult frame_read(FrameReader *reader, FrameWait wait, Str *ret_body) {
    for (;;) {
        drop_used(reader);
        FrameResult result = take_message(reader, ret_body);
        if (result != FRAME_NONE) return result;
        if (!read_more(reader, wait, &result)) return result;
    }
}

void frame_write(Str body) {
    printf("Content-Length: %zu\r\n\r\n", body.len);
    if (body.len > 0) fwrite(body.data, 1, body.len, stdout);
    fflush(stdout);
}
