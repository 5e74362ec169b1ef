// JsonValue: building the tree, looking things up in it, comparing.
//
// Children are a linked list in the order of the text: one pass, one allocation per value, no
// scratch memory; requests are small and are read once, so an index would cost more than it saves.
//   [json-value-1] The parents of the value being read stand on an array of LIMIT_JSON_DEPTH
//        places; the reader refuses deeper text before it could overflow.
//   [json-value-2] No function here recurses: equality walks with an explicit stack in its own
//        arena.
#include "json/value.h"
#include "base/assert.h"
#include "base/containers/vec.h"
#include "json/escape.h"
#include "json/read.h"
#include <stdalign.h>

typedef struct Builder {
    Arena *arena;
    Arena *texts;
    JsonValue *root;
    size_t depth;
    struct {
        JsonValue *container;
        JsonValue **tail;         // where the next child goes
    } open[LIMIT_JSON_DEPTH_MAX]; // [json-value-1]
    Str key;                      // of the member whose value comes next
} Builder;

static JsonValue *add_value(Builder *builder, JsonKind kind, Str raw) {
    JsonValue *value = ARENA_NEW(builder->arena, JsonValue);
    value->kind = kind;
    value->raw = raw;
    if (builder->depth == 0) {
        builder->root = value;
        return value;
    }
    JsonValue *container = builder->open[builder->depth - 1].container;
    if (container->kind == JSON_KIND_OBJECT) value->key = builder->key;
    *builder->open[builder->depth - 1].tail = value;
    builder->open[builder->depth - 1].tail = &value->next;
    ASSERT(container->count < UINT32_MAX);
    container->count++;
    return value;
}

static void open_value(Builder *builder, JsonKind kind, const char *start) {
    JsonValue *container = add_value(builder, kind, (Str){start, 0});
    ASSERT(builder->depth < LIMIT_JSON_DEPTH);
    builder->open[builder->depth].container = container;
    builder->open[builder->depth].tail = &container->first;
    builder->depth++;
}

static void close_value(Builder *builder, const char *end) {
    JsonValue *container = builder->open[--builder->depth].container;
    container->raw.len = (size_t)(end - container->raw.data);
}

static Str string_raw(const JsonEvent *event) { // with its quotes
    return (Str){event->raw.data - 1, event->raw.len + 2};
}

static void add_event(Builder *builder, const JsonReader *reader, const JsonEvent *event) {
    const char *start = reader->start + event->at;
    switch (event->kind) {
    case JSON_KEY: builder->key = json_string_arena(builder->texts, event); break;
    case JSON_NULL: add_value(builder, JSON_KIND_NULL, event->raw); break;
    case JSON_FALSE: add_value(builder, JSON_KIND_BOOL, event->raw); break;
    case JSON_TRUE: add_value(builder, JSON_KIND_BOOL, event->raw)->boolean = true; break;
    case JSON_NUMBER:
        add_value(builder, JSON_KIND_NUMBER, event->raw)->number = json_number(event->raw);
        break;
    case JSON_STRING:
        add_value(builder, JSON_KIND_STRING, string_raw(event))->string =
            json_string_arena(builder->texts, event);
        break;
    case JSON_ARRAY_BEGIN: open_value(builder, JSON_KIND_ARRAY, start); break;
    case JSON_OBJECT_BEGIN: open_value(builder, JSON_KIND_OBJECT, start); break;
    case JSON_ARRAY_END:
    case JSON_OBJECT_END: close_value(builder, reader->at); break;
    case JSON_END:
    case JSON_EVENT_KIND_COUNT: break;
    }
}

// Every value but the first follows a comma or an opening bracket; quotes hide theirs.
size_t json_tree_size(Str text) {
    size_t count = 1;
    bool is_string = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (is_string && c == '\\') i++;
        else if (c == '"') is_string = !is_string;
        else if (!is_string && (c == ',' || c == '[' || c == '{')) count++;
    }
    return count * (sizeof(JsonValue) + alignof(max_align_t));
}

Status json_parse(Arena *arena, Str text, JsonValue **ret_value, Diag *diag) {
    return json_parse_apart(arena, arena, text, ret_value, diag);
}

Status json_parse_apart(Arena *tree, Arena *texts, Str text, JsonValue **ret_value, Diag *diag) {
    JsonReader reader;
    JsonEvent event;
    Builder builder;
    builder.arena = tree;
    builder.texts = texts;
    builder.root = NULL;
    builder.depth = 0;
    builder.key = STR_NULL;
    json_reader_init(&reader, text);
    do {
        TRY(json_next(&reader, &event, diag));
        add_event(&builder, &reader, &event);
    } while (event.kind != JSON_END);
    *ret_value = builder.root;
    return OK;
}

const char *json_kind_name(JsonKind kind) {
    static const char *const names[] = {
        [JSON_KIND_NULL] = "null",     [JSON_KIND_BOOL] = "boolean", [JSON_KIND_NUMBER] = "number",
        [JSON_KIND_STRING] = "string", [JSON_KIND_ARRAY] = "array",  [JSON_KIND_OBJECT] = "object",
    };
    ASSERT((unsigned)kind < JSON_KIND_COUNT);
    return names[kind];
}

const JsonValue *json_member(const JsonValue *object, Str name) {
    if (!object || object->kind != JSON_KIND_OBJECT) return NULL;
    const JsonValue *found = NULL;
    JSON_EACH (member, object) {
        if (str_equal(member->key, name)) found = member;
    }
    return found;
}

const JsonValue *json_item(const JsonValue *array, size_t index) {
    if (!array || array->kind != JSON_KIND_ARRAY || index >= array->count) return NULL;
    const JsonValue *item = array->first;
    while (index-- > 0) item = item->next;
    return item;
}

// ---- equality

typedef struct ValuePair {
    const JsonValue *a;
    const JsonValue *b;
} ValuePair;

typedef VEC(ValuePair) PairStack;

static void push_items(PairStack *stack, const JsonValue *a, const JsonValue *b) {
    const JsonValue *other = b->first;
    JSON_EACH (item, a) {
        vec_push(stack, (ValuePair){item, other});
        other = other->next;
    }
}

// Each name of `a` must be in `b`; answers false at once if one is not.
static bool push_members(PairStack *stack, const JsonValue *a, const JsonValue *b) {
    JSON_EACH (member, b) {
        if (!json_member(a, member->key)) return false;
    }
    JSON_EACH (member, a) {
        if (json_member(a, member->key) != member) continue; // a later one of that name counts
        const JsonValue *other = json_member(b, member->key);
        if (!other) return false;
        vec_push(stack, (ValuePair){member, other});
    }
    return true;
}

static bool pair_is_equal(PairStack *stack, const JsonValue *a, const JsonValue *b) {
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case JSON_KIND_NULL: return true;
    case JSON_KIND_BOOL: return a->boolean == b->boolean;
    case JSON_KIND_NUMBER: return a->number == b->number;
    case JSON_KIND_STRING: return str_equal(a->string, b->string);
    case JSON_KIND_ARRAY:
        if (a->count != b->count) return false;
        push_items(stack, a, b);
        return true;
    case JSON_KIND_OBJECT: return push_members(stack, a, b);
    case JSON_KIND_COUNT: break;
    }
    UNREACHABLE();
}

bool json_equal(const JsonValue *a, const JsonValue *b) {
    PairStack stack = {0};
    vec_push(&stack, (ValuePair){a, b});
    bool is_equal = true;
    while (is_equal && stack.count > 0) {
        ValuePair pair = vec_pop(&stack);
        is_equal = pair_is_equal(&stack, pair.a, pair.b);
    }
    vec_free(&stack);
    return is_equal;
}
