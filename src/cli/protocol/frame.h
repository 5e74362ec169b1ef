// Frames: messages with a Content-Length head over a file descriptor, as editors speak them.
//
//   Content-Length: 27\r\n
//   \r\n
//   {"jsonrpc":"2.0", … }
//
//   [frame-1] A head has at most FRAME_HEAD_MAX bytes. One that is longer, or that has no length,
//        leaves no way to find the next message: the stream is broken.
//   [frame-2] A body larger than FRAME_BODY_MAX is read and thrown away; the next message is fine.
//   [frame-3] The body lives until the next call.
#pragma once
#include "base/containers/buf.h"

enum { FRAME_HEAD_MAX = 4096, FRAME_BODY_MAX = 64 << 20 };

typedef struct FrameReader {
    int descriptor;
    Buf input;           // what has been read and not been answered yet
    size_t used;         // bytes at its front that belong to the last message
    size_t skipped_left; // bytes of a body that is too large [frame-2]
} FrameReader;

typedef enum FrameResult {
    FRAME_MESSAGE,
    FRAME_NONE,      // nothing is there yet; only when asked not to wait
    FRAME_TOO_LARGE, // [frame-2]
    FRAME_END,       // the other side has closed
    FRAME_BROKEN,    // [frame-1]
} FrameResult;

typedef enum FrameWait { FRAME_WAIT, FRAME_LOOK } FrameWait;

void frame_reader_init(FrameReader *reader, int descriptor);
void frame_reader_done(FrameReader *reader);
FrameResult frame_read(FrameReader *reader, FrameWait wait, Str *ret_body);
// To standard output, at once.
void frame_write(Str body);
