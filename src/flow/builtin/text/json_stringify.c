// JSON.stringify: plain data is written here, without recursion; anything that may run script
// code (toJSON, getters, replacers, boxed primitives) or is an error (cycles, BigInt) makes this
// give up and leave the whole of it to the prelude, which says the right thing.
//
//   [json-stringify-1] Writing has no side effects, so giving up half way costs nothing but time.
//   [json-stringify-2] The text is UTF-8 while it grows, and pure ASCII for most data; lone
//        surrogates are escaped, so that it can be made a string without loss.
#include "base/memory.h"
#include "base/text/number.h"
#include "flow/builtin/objects.h"
#include "flow/builtin/primitives.h"
#include "flow/value/object_layout.h"
#include "flow/vm/vm.h"
#include "json/escape.h"

enum {
    WRITE_DEPTH_MAX = 4000,
    GAP_MAX = 10,
    WRITE_SKIP_WORK = 64,       // of a member that has no value to write
    WRITE_WORK_MAX = 100 << 20, // besides writing; then the prelude takes over
};

typedef struct WriteLevel {
    FlowObject *object;
    FlowOwnCursor cursor; // objects
    uint32_t index;       // arrays
    bool is_array;
    bool is_empty; // nothing was written yet
} WriteLevel;

typedef struct JsonWriter {
    FlowVm *vm;
    Buf out;
    WriteLevel *levels;
    uint32_t depth;
    uint32_t capacity;
    FlowString *gap; // NULL: no line breaks
    FlowKey to_json;
    bool has_plain_protos; // Object.prototype and Array.prototype have no toJSON
    uint64_t work;         // besides writing
    bool is_data;          // for outside: errors keep name, message and cause
} JsonWriter;

typedef enum WriteStep {
    WRITE_DONE,    // a whole value
    WRITE_OPENED,  // a container was opened
    WRITE_SKIPPED, // undefined: nothing was written
    WRITE_UNSURE,  // the prelude has to do it
} WriteStep;

// --- text

static void append_quoted(JsonWriter *w, FlowString *s) {
    FlowString *flat = flow_string_flat(w->vm, s);
    uint32_t length = flow_string_length(flat);
    if (flow_string_is_wide(flat)) json_append_string_utf16(&w->out, flat->wide, length);
    else json_append_string_latin1(&w->out, flat->latin1, length);
}

static void append_number(JsonWriter *w, FlowValue value) {
    if (flow_is_int(value)) {
        char text[NUMBER_TEXT_MAX];
        buf_append(&w->out, text, number_format_i64(flow_as_int(value), text));
    } else {
        json_append_number(&w->out, flow_as_double(value));
    }
}

static void append_break(JsonWriter *w, uint32_t depth) {
    if (!w->gap) return;
    buf_append_char(&w->out, '\n');
    for (uint32_t i = 0; i < depth; i++) flow_string_to_utf8(w->vm, w->gap, &w->out);
}

// --- values

static bool has_to_json(JsonWriter *w, FlowObject *object) {
    FlowObject *body = flow_object_body(w->vm, object);
    uint32_t slot;
    uint32_t attributes;
    const FlowRealm *realm = w->vm->realm;
    FlowObject *proto = body->shape->proto;
    bool is_common = !proto || (w->has_plain_protos && (proto == realm->protos[PROTO_OBJECT] ||
                                                        proto == realm->protos[PROTO_ARRAY]));
    if (is_common && !(object->cell.aux & OBJECT_LAZY_FUNCTION)) {
        return flow_shape_find(body->shape, w->to_json, &slot, &attributes);
    }
    return flow_object_has(w->vm, object, w->to_json);
}

static bool is_open(JsonWriter *w, const FlowObject *object) {
    w->work += w->depth;
    for (uint32_t i = 0; i < w->depth; i++) {
        if (w->levels[i].object == object) return true;
    }
    return false;
}

static WriteStep open_object(JsonWriter *w, FlowObject *object) {
    bool is_array = object->cell.kind == KIND_ARRAY;
    if (is_array && !flow_array_is_plain(w->vm, flow_from_object(object))) return WRITE_UNSURE;
    if (flow_native_is_overdrawn(w->vm)) return WRITE_UNSURE; // looking for toJSON took too long
    if (w->depth == WRITE_DEPTH_MAX || is_open(w, object)) return WRITE_UNSURE;
    if (w->depth == w->capacity) {
        w->capacity = w->capacity ? w->capacity * 2 : 8;
        w->levels = mem_realloc(w->levels, w->capacity * sizeof *w->levels);
    }
    w->levels[w->depth++] = (WriteLevel){.object = object,
                                         .cursor = flow_own_cursor(w->vm, object),
                                         .is_array = is_array,
                                         .is_empty = true};
    buf_append_char(&w->out, is_array ? '[' : '{');
    return WRITE_OPENED;
}

static WriteStep write_value(JsonWriter *w, FlowValue value) {
    if (flow_is_string(value)) {
        append_quoted(w, flow_as_string(value));
    } else if (flow_is_number(value)) {
        append_number(w, value);
    } else if (flow_is_object(value)) {
        if (has_to_json(w, flow_as_object(value))) return WRITE_UNSURE;
        FlowKind kind = flow_kind_of(value);
        if (kind >= KIND_BOOLEAN_OBJECT && kind <= KIND_BIGINT_OBJECT) return WRITE_UNSURE;
        if (w->is_data && kind == KIND_ERROR) return WRITE_UNSURE;
        if (flow_is_callable(value)) return WRITE_SKIPPED;
        return open_object(w, flow_as_object(value));
    } else if (flow_is_null(value)) {
        buf_append(&w->out, "null", 4);
    } else if (flow_is_boolean(value)) {
        buf_append_cstr(&w->out, flow_is_true(value) ? "true" : "false");
    } else if (flow_is_bigint(value)) {
        return WRITE_UNSURE;
    } else {
        return WRITE_SKIPPED;
    }
    return WRITE_DONE;
}

static WriteStep close_level(JsonWriter *w) {
    WriteLevel *level = &w->levels[--w->depth];
    if (!level->is_empty) append_break(w, w->depth);
    buf_append_char(&w->out, level->is_array ? ']' : '}');
    return WRITE_DONE;
}

static void begin_item(JsonWriter *w, WriteLevel *level) {
    if (!level->is_empty) buf_append_char(&w->out, ',');
    level->is_empty = false;
    append_break(w, w->depth);
}

static WriteStep write_item(JsonWriter *w, WriteLevel *level) {
    const FlowArray *array = (const FlowArray *)level->object;
    if (level->index == array->length) return close_level(w);
    begin_item(w, level);
    FlowValue value = flow_array_at(array, level->index++);
    WriteStep step = flow_is_hole(value) ? WRITE_SKIPPED : write_value(w, value);
    if (step != WRITE_SKIPPED) return step;
    buf_append(&w->out, "null", 4);
    return WRITE_DONE;
}

static WriteStep write_member(JsonWriter *w, WriteLevel *level) {
    FlowKey key;
    FlowProperty property;
    if (!flow_own_next(&level->cursor, &key, &property)) return close_level(w);
    if (property.attributes & PROPERTY_ACCESSOR) return WRITE_UNSURE;
    FlowValue value = property.value;
    bool is_written = flow_is_string(value) || flow_is_number(value) || flow_is_null(value) ||
                      flow_is_boolean(value) || (flow_is_object(value) && !flow_is_callable(value));
    if (!is_written) { // a key without a value does not appear, unless toJSON gives it one
        if (flow_is_bigint(value)) return WRITE_UNSURE;
        bool is_unsure = flow_is_object(value) && has_to_json(w, flow_as_object(value));
        return is_unsure ? WRITE_UNSURE : WRITE_SKIPPED;
    }
    begin_item(w, level);
    append_quoted(w, flow_as_string(flow_key_to_value(w->vm, key)));
    buf_append(&w->out, ": ", w->gap ? 2 : 1);
    return write_value(w, value);
}

// SKIPPED: the value has no JSON at all.
static WriteStep write_text(JsonWriter *w, FlowValue value) {
    WriteStep step = write_value(w, value);
    while (step != WRITE_UNSURE && w->depth && !w->out.is_overflown) {
        WriteLevel *level = &w->levels[w->depth - 1];
        step = level->is_array ? write_item(w, level) : write_member(w, level);
        if (step != WRITE_SKIPPED) continue; // what is written is bounded by the room for it
        w->work += WRITE_SKIP_WORK;
        if (w->work > WRITE_WORK_MAX) step = WRITE_UNSURE; // the prelude can be stopped
    }
    return step;
}

// --- the function

// What the third argument means; false when it is boxed and the prelude has to open it.
static bool gap_of(FlowVm *vm, FlowValue space, FlowString **ret_gap) {
    *ret_gap = NULL;
    if (flow_is_number(space)) {
        double count = flow_to_integer(flow_as_number(space));
        count = count > GAP_MAX ? GAP_MAX : count < 0 ? 0 : count;
        *ret_gap = flow_string_latin1(vm, (const uint8_t *)"          ", (size_t)count);
    } else if (flow_is_string(space)) {
        FlowString *flat = flow_string_flat(vm, flow_as_string(space));
        uint32_t length = flow_string_length(flat);
        *ret_gap = flow_string_substring(vm, flat, 0, length > GAP_MAX ? GAP_MAX : length);
    } else if (flow_is_object(space)) {
        return false;
    }
    if (*ret_gap && flow_string_length(*ret_gap) == 0) *ret_gap = NULL;
    return true;
}

static FlowNativeResult give_text(JsonWriter *w, FlowNativeCall *call) {
    if (w->out.is_overflown) {
        return flow_native_throw(w->vm, ERROR_KIND_RANGE, "Invalid string length");
    }
    if (!flow_heap_has_room(&w->vm->heap, w->out.len)) {
        return flow_native_room(w->vm, call, w->out.len);
    }
    return flow_native_return(call, flow_from_string(flow_string_utf8(w->vm, buf_str(&w->out))));
}

static FlowNativeResult stringify(FlowVm *vm, FlowNativeCall *call, bool is_data) {
    JsonWriter w = {.vm = vm, .to_json = FLOW_KEY(vm, toJSON), .is_data = is_data};
    if (flow_is_object(flow_argument(call, 1)) || !gap_of(vm, flow_argument(call, 2), &w.gap)) {
        return flow_native_slow(vm, call);
    }
    const FlowRealm *realm = vm->realm;
    w.has_plain_protos =
        !flow_object_has(vm, realm->protos[PROTO_ARRAY], w.to_json) &&
        flow_object_proto(vm, realm->protos[PROTO_ARRAY]) == realm->protos[PROTO_OBJECT];
    size_t max = vm->limits.string_length;
    buf_init(&w.out, vm->heap.limit < max ? vm->heap.limit : max);
    WriteStep step = write_text(&w, flow_argument(call, 0));
    flow_native_charge(vm, w.work + w.out.len * 8);
    FlowNativeResult result;
    if (step == WRITE_UNSURE) result = flow_native_slow(vm, call);
    else if (step == WRITE_SKIPPED && w.out.len == 0) result = NATIVE_OK;
    else result = give_text(&w, call);
    mem_free(w.levels);
    buf_done(&w.out);
    return result;
}

static FlowNativeResult flow_json_stringify(FlowVm *vm, FlowNativeCall *call) {
    return stringify(vm, call, false);
}

// --- intrinsics of the prelude's way

// %dataStringify(value): what leaves the run; prelude/json.js says how it differs.
static FlowNativeResult data_stringify(FlowVm *vm, FlowNativeCall *call) {
    return stringify(vm, call, true);
}

// %isError(value): made by an Error constructor or a subclass.
static FlowNativeResult is_error(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    return flow_native_return(call, flow_bool(flow_is_kind(flow_argument(call, 0), KIND_ERROR)));
}

// %jsonQuote(string)
static FlowNativeResult json_quote(FlowVm *vm, FlowNativeCall *call) {
    JsonWriter w = {.vm = vm};
    buf_init(&w.out, vm->limits.string_length);
    append_quoted(&w, flow_as_string(flow_argument(call, 0)));
    flow_native_charge(vm, w.out.len * 4);
    FlowNativeResult result = give_text(&w, call);
    buf_done(&w.out);
    return result;
}

// %boxedKind(value): "Number", "String", "Boolean", "BigInt" for boxed primitives, else "".
static FlowNativeResult boxed_kind(FlowVm *vm, FlowNativeCall *call) {
    FlowValue value = flow_argument(call, 0);
    const char *kind = "";
    if (flow_is_kind(value, KIND_NUMBER_OBJECT)) kind = "Number";
    else if (flow_is_kind(value, KIND_STRING_OBJECT)) kind = "String";
    else if (flow_is_kind(value, KIND_BOOLEAN_OBJECT)) kind = "Boolean";
    else if (flow_is_kind(value, KIND_BIGINT_OBJECT)) kind = "BigInt";
    return flow_native_return(call, flow_from_string(flow_string_cstr(vm, kind)));
}

// %boxedValue(object): the primitive inside.
static FlowNativeResult boxed_value(FlowVm *vm, FlowNativeCall *call) {
    (void)vm;
    const FlowSlotObject *object = flow_as_pointer(flow_argument(call, 0));
    return flow_native_return(call, object->internal[0]);
}

// %constructorName(object): for the path of a cycle.
static FlowNativeResult constructor_name(FlowVm *vm, FlowNativeCall *call) {
    FlowObject *object = flow_as_object(flow_argument(call, 0));
    FlowValue constructor = flow_object_get_data(vm, object, FLOW_KEY(vm, constructor));
    FlowValue name = FLOW_UNDEFINED;
    if (flow_is_callable(constructor)) {
        name = flow_object_get_data(vm, flow_as_object(constructor), FLOW_KEY(vm, name));
    }
    bool has_name = flow_is_string(name) && flow_string_length(flow_as_string(name));
    return flow_native_return(call,
                              has_name ? name : flow_from_string(flow_string_cstr(vm, "Object")));
}

const FlowNativeEntry flow_intrinsics_json[] = {
    NATIVE_SLOW("dataStringify", data_stringify, "dataStringify", 3),
    NATIVE("isError", is_error, 1),
    NATIVE("jsonQuote", json_quote, 1),
    NATIVE("boxedKind", boxed_kind, 1),
    NATIVE("boxedValue", boxed_value, 1),
    NATIVE("constructorName", constructor_name, 1),
    NATIVE_END,
};

static const FlowNativeEntry json_statics[] = {
    NATIVE("parse", flow_json_parse, 2),
    NATIVE_SLOW("stringify", flow_json_stringify, "JSON_stringify", 3),
    NATIVE_END,
};

const FlowClassEntry flow_class_json = {
    .name = "JSON",
    .statics = json_statics,
    .tag = "JSON",
};
