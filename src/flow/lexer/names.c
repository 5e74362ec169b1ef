// Names: one hash table per program, filled with the words of the language first.
//
// The lexer hashes a name right after it found its end, so the table never hashes again: it
// keeps the hash in the name and compares bytes only when the hashes agree. A name and its text
// are one block, so that a hit costs two cache lines: the slot and the name.
//   [names-3] [names-2] see names.h; names are never removed, they go with the arena.
#include "flow/lexer/names.h"
#include "base/containers/hash.h"

enum { NAMES_CAPACITY_START = 512 };

const FlowTokenInfo flow_token_info[TOKEN_COUNT] = {
#define TOKEN(NAME, TEXT, PRECEDENCE, OPERATOR)                                                    \
    [TOKEN_##NAME] = {TEXT, PRECEDENCE, OPERATOR_##OPERATOR},
    FLOW_TOKENS(TOKEN)
#undef TOKEN
};

uint32_t flow_name_hash(Str text) {
    uint64_t hash = hash_bytes(text.data, text.len);
    return (uint32_t)(hash ^ hash >> 32);
}

static void names_grow(FlowNames *names) {
    uint32_t capacity = names->capacity * 2;
    FlowName **slots = ARENA_ARRAY(names->arena, FlowName *, capacity);
    for (uint32_t i = 0; i < names->capacity; i++) {
        FlowName *name = names->slots[i];
        if (!name) continue;
        uint32_t slot = name->hash & (capacity - 1);
        while (slots[slot]) slot = (slot + 1) & (capacity - 1);
        slots[slot] = name;
    }
    names->slots = slots;
    names->capacity = capacity;
}

FlowName *flow_names_intern(FlowNames *names, Str text, uint32_t hash) {
    uint32_t mask = names->capacity - 1;
    uint32_t slot = hash & mask;
    for (FlowName *name; (name = names->slots[slot]) != NULL; slot = (slot + 1) & mask)
        if (name->hash == hash && str_equal(name->text, text)) return name; // [names-3]
    if ((names->count + 1) * 2 > names->capacity) {
        names_grow(names);
        mask = names->capacity - 1;
        slot = hash & mask;
        while (names->slots[slot]) slot = (slot + 1) & mask;
    }
    FlowName *name = arena_alloc(names->arena, sizeof(FlowName) + text.len + 1);
    *name = (FlowName){.text = {(char *)(name + 1), text.len}};
    memcpy(name + 1, text.data, text.len); // beside the name: one cache line for both
    ((char *)(name + 1))[text.len] = 0;
    name->hash = hash;
    name->id = names->count++;
    names->slots[slot] = name;
    return name;
}

FlowName *flow_names_add(FlowNames *names, Str text) {
    return flow_names_intern(names, text, flow_name_hash(text));
}

static FlowName *add_text(FlowNames *names, const char *text) {
    return flow_names_add(names, str_from(text));
}

void flow_names_init(FlowNames *names, Arena *arena) {
    *names = (FlowNames){.arena = arena, .capacity = NAMES_CAPACITY_START};
    names->slots = ARENA_ARRAY(arena, FlowName *, NAMES_CAPACITY_START);
    for (int kind = TOKEN_IDENTIFIER + 1; kind < TOKEN_COUNT; kind++) { // [names-2]
        if (kind == TOKEN_ESCAPED_WORD) continue;
        add_text(names, flow_token_info[kind].text)->keyword = (uint16_t)kind;
    }
    names->arguments = add_text(names, "arguments");
    names->eval = add_text(names, "eval");
    names->constructor = add_text(names, "constructor");
    names->prototype = add_text(names, "prototype");
    names->proto = add_text(names, "__proto__");
    names->use_strict = add_text(names, "use strict");
    names->config = add_text(names, "config");
    names->undefined = add_text(names, "undefined");
    names->this_value = add_text(names, "this");
    names->new_target = add_text(names, "new.target");
    names->home_object = add_text(names, "%home");
    names->callee = add_text(names, "%callee");
    names->private_constructor = add_text(names, "#constructor");
    names->default_value = add_text(names, "default");
    names->name_async = add_text(names, "async");
    names->name_get = add_text(names, "get");
    names->name_set = add_text(names, "set");
    names->name_static = add_text(names, "static");
    names->name_await = add_text(names, "await");
    names->name_yield = add_text(names, "yield");
    names->name_let = add_text(names, "let");
}
