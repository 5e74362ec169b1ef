// View diff: what changed between two pictures of a script's variables.
//
// The pictures are what flow_vm_inspect says, read as JSON: frames with views of variables.
//
//   [view-diff-1] Frames are compared by the name of their function, variables by name, what is in
//        them by key. What a view leaves out is not compared, but its size is.
#pragma once
#include "json/value.h"
#include "json/write.h"

enum { DIFF_CHANGES_MAX = 1000 };

// Writes {"function","path","change","from","to"} for each change, into the array that is open.
// Answers whether some were left out, beyond DIFF_CHANGES_MAX.
bool view_diff_write(const JsonValue *from_frames, const JsonValue *to_frames, JsonWriter *json);
