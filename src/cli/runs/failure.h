// Failures: error objects of runs and tasks as people read them.
//
//   TaskError: task "charge" failed
//       at async order (order.flow:7:3)
//     attempts: 3
//     caused by CardError: declined
//       code: DECLINED
#pragma once
#include "base/arena.h"
#include "base/containers/buf.h"
#include "json/value.h"

enum { FAILURE_TEXT_MAX = 8 << 20 };

// All of it: stack, what else it carries, causes; each line ends with a newline and begins with
// `indent` spaces, the first one excepted. What comes from outside cannot steer a terminal.
void failure_append(Buf *text, const JsonValue *error, size_t indent);
// "TypeError: x is not a function", or the JSON when it has no such members. Whole, on one line.
Str failure_headline(Arena *arena, const JsonValue *error);

typedef struct FailurePlace { // in a script
    Str file;
    int64_t line, column; // from 1
} FailurePlace;
// Where it happened, from its stack. False: that is not known.
bool failure_place(const JsonValue *error, FailurePlace *ret_place);
// The line of the source with a mark below, as `abide check` shows them. Nothing when the source
// has no such line.
void failure_append_excerpt(Buf *text, Str source, const FailurePlace *place, size_t indent);
