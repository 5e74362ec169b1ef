// Names: the interned identifiers of one program.
//   [names-1] Equal texts are one FlowName, so names compare as pointers.
//   [names-2] Reserved and contextual words are interned first and carry their token.
#pragma once
#include "flow/lexer/token.h"
#include "flow/tree/ast.h"

typedef struct FlowNames {
    Arena *arena;
    FlowName **slots;  // open addressing
    uint32_t capacity; // power of two
    uint32_t count;
    // Words the parser asks for by name.
    FlowName *arguments, *eval, *constructor, *prototype, *proto, *use_strict, *config, *undefined;
    FlowName *this_value, *new_target, *home_object, *callee, *private_constructor, *default_value;
    FlowName *name_async, *name_get, *name_set, *name_static, *name_await, *name_yield, *name_let;
} FlowNames;

void flow_names_init(FlowNames *names, Arena *arena);
// The text is copied when the name is new; `hash` must be flow_name_hash(text).
FlowName *flow_names_intern(FlowNames *names, Str text, uint32_t hash);
FlowName *flow_names_add(FlowNames *names, Str text);
uint32_t flow_name_hash(Str text);
