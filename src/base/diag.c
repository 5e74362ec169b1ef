// Diag: formatting of the text that goes with a Status.
//
// A Diag is a value of fixed size, so that failing never allocates and never fails itself.
//   [diag-1] Both texts are always NUL-terminated.
//   [diag-2] A message that does not fit is cut at a code point boundary and ends in "...", because
//        it may quote a client's text and must stay valid UTF-8 if that text was.
#include "base/diag.h"
#include "base/assert.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void diag_clear(Diag *diag) {
    if (!diag) return;
    diag->code[0] = '\0';
    diag->message[0] = '\0';
}

static void cut_message(char *message) {
    size_t end = DIAG_MESSAGE_MAX - 4;
    while (end > 0 && ((unsigned char)message[end] & 0xC0) == 0x80) end--;
    memcpy(message + end, "...", 4);
}

Status diag_set(Diag *diag, Status status, const char *code, const char *format, ...) {
    ASSERT(status != OK);
    if (!diag) return status;
    ASSERT(strlen(code) < DIAG_CODE_MAX);
    memcpy(diag->code, code, strlen(code) + 1);
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf(diag->message, DIAG_MESSAGE_MAX, format, arguments);
    va_end(arguments);
    if (len < 0) diag->message[0] = '\0';
    if (len >= DIAG_MESSAGE_MAX) cut_message(diag->message); // [diag-2]
    return status;
}
