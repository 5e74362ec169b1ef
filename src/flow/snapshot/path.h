// Path: how people name a value inside a variable: order.items[3].price, prices["a b"].
//
//   [path-1] A path begins with the name of a variable; each further part is a property, an index
//        or, of a Map, a key that is a text.
#pragma once
#include "base/diag.h"
#include "flow/value/object.h"

enum { PATH_PARTS_MAX = 32, PATH_SIZE_MAX = 1024 };

typedef struct FlowPathPart {
    Str name;       // of a property; null = an index
    uint32_t index; // of an array
} FlowPathPart;

typedef struct FlowPath { // refers to the text it was made from
    FlowPathPart parts[PATH_PARTS_MAX];
    size_t count; // at least 1
} FlowPath;

// ERR_INVALID with BAD_PATH says where it cannot be read.
MUST_CHECK Status flow_path_parse(Str text, FlowPath *ret_path, Diag *diag);
// From the variable's value to what the rest of the path names. False: there is no such thing.
bool flow_path_follow(FlowVm *vm, const FlowPath *path, FlowValue *value);
