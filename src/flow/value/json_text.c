// JSON of plain data, without running script code: inputs, settlements, failure details. What a
// script asks for with JSON.stringify is builtin/text/json_stringify.c.
//
//   [json-text-1] Reading keeps an explicit stack of open containers; depth is limited by the
//        reader.
//   [json-text-2] Writing is for people and logs: at most JSON_OUT_DEPTH levels, cycles end there.
#include "base/memory.h"
#include "flow/value/object_layout.h"
#include "flow/vm/vm.h"
#include "json/escape.h"
#include "json/read.h"

enum { JSON_OUT_DEPTH = 12 };

static FlowString *event_string(FlowVm *vm, const JsonEvent *event) {
    if (!event->has_escapes && event->is_ascii) {
        return flow_string_latin1(vm, (const uint8_t *)event->raw.data, event->raw.len);
    }
    if (!event->has_escapes) return flow_string_utf8(vm, event->raw);
    uint16_t *units = mem_alloc(event->raw.len * sizeof *units + 2);
    size_t count = json_string_decode_utf16(event->raw, units);
    FlowString *s = flow_string_utf16(vm, units, count);
    mem_free(units);
    return s;
}

static FlowValue event_scalar(FlowVm *vm, const JsonEvent *event) {
    switch (event->kind) {
    case JSON_NULL: return FLOW_NULL;
    case JSON_TRUE: return FLOW_TRUE;
    case JSON_FALSE: return FLOW_FALSE;
    case JSON_NUMBER: return flow_number(json_number(event->raw));
    case JSON_STRING: return flow_from_string(event_string(vm, event));
    default: return FLOW_UNDEFINED;
    }
}

static void place_value(FlowVm *vm, FlowValue container, FlowKey key, FlowValue value) {
    if (flow_is_array(container)) flow_array_push(vm, flow_as_array(container), value);
    else if (!flow_key_is_index(key)) flow_object_put(vm, flow_as_object(container), key, value);
    else flow_elements_append(vm, flow_as_object(container), flow_key_as_index(key), value);
}

Status flow_json_to_value(FlowVm *vm, Str json, FlowValue *ret, Diag *diag) {
    JsonReader reader;
    JsonEvent event;
    FlowValue open[LIMIT_JSON_DEPTH_MAX + 1]; // [json-text-1]
    FlowKey keys[LIMIT_JSON_DEPTH_MAX + 1];
    size_t depth = 0;
    FlowValue result = FLOW_UNDEFINED;
    json_reader_init(&reader, json);
    for (;;) {
        TRY(json_next(&reader, &event, diag));
        if (event.kind == JSON_END) break;
        if (event.kind == JSON_KEY) {
            keys[depth] = flow_key_string(vm, event_string(vm, &event));
            continue;
        }
        if (event.kind == JSON_ARRAY_END || event.kind == JSON_OBJECT_END) {
            depth--;
            continue;
        }
        bool is_array = event.kind == JSON_ARRAY_BEGIN;
        bool is_container = is_array || event.kind == JSON_OBJECT_BEGIN;
        FlowValue value = is_array       ? flow_from_object(flow_array_new(vm, 0))
                          : is_container ? flow_from_object(flow_object_plain(vm))
                                         : event_scalar(vm, &event);
        if (depth) place_value(vm, open[depth], keys[depth], value);
        else result = value;
        if (is_container) open[++depth] = value;
    }
    *ret = result;
    return OK;
}

// --- writing

static void append_text(FlowVm *vm, FlowString *s, Buf *out) {
    Buf utf8;
    buf_init(&utf8, 1 << 20);
    flow_string_to_utf8(vm, s, &utf8);
    json_append_string(out, buf_str(&utf8));
    buf_done(&utf8);
}

static bool append_scalar(FlowVm *vm, FlowValue value, Buf *out) {
    if (flow_is_string(value)) append_text(vm, flow_as_string(value), out);
    else if (flow_is_number(value)) json_append_number(out, flow_as_number(value));
    else if (flow_is_boolean(value)) buf_append_cstr(out, flow_is_true(value) ? "true" : "false");
    else if (!flow_is_object(value) || flow_is_callable(value)) buf_append_cstr(out, "null");
    else return false;
    return true;
}

static void append_value(FlowVm *vm, FlowValue value, uint32_t depth, Buf *out);

static void append_member(FlowVm *vm, FlowObject *object, FlowValue name, uint32_t depth,
                          Buf *out) {
    if (out->data[out->len - 1] != '{') buf_append_char(out, ',');
    FlowKey key = flow_key_string(vm, flow_as_string(name));
    append_text(vm, flow_as_string(name), out);
    buf_append_char(out, ':');
    append_value(vm, flow_object_get_data(vm, object, key), depth + 1, out);
}

// An error as errorData() of prelude/json.js has it: name and message first, hidden fields too, no
// stack.
static void append_object(FlowVm *vm, FlowObject *object, uint32_t depth, Buf *out) {
    bool is_error = object->cell.kind == KIND_ERROR;
    FlowArray *keys =
        flow_object_keys(vm, object, is_error ? KEYS_STRINGS : KEYS_STRINGS | KEYS_ENUMERABLE_ONLY);
    buf_append_char(out, '{');
    if (is_error) {
        append_member(vm, object, FLOW_NAME(vm, name), depth, out);
        append_member(vm, object, FLOW_NAME(vm, message), depth, out);
    }
    for (uint32_t i = 0; i < keys->length && !out->is_overflown; i++) {
        FlowValue name = flow_object_element(vm, &keys->object, i);
        FlowKey key = flow_key_string(vm, flow_as_string(name));
        bool is_done = key.bits == FLOW_NAME(vm, stack).bits ||
                       key.bits == FLOW_NAME(vm, name).bits ||
                       key.bits == FLOW_NAME(vm, message).bits;
        if (!is_error || !is_done) append_member(vm, object, name, depth, out);
    }
    buf_append_char(out, '}');
}

// Depth is bounded [json-text-2], so recursion is safe here.
static void append_value(FlowVm *vm, FlowValue value, uint32_t depth, Buf *out) {
    if (append_scalar(vm, value, out)) return;
    if (depth == JSON_OUT_DEPTH) {
        buf_append_cstr(out, "null");
        return;
    }
    FlowObject *object = flow_as_object(value);
    if (flow_is_array(value)) {
        buf_append_char(out, '[');
        uint32_t length = ((FlowArray *)object)->length;
        for (uint32_t i = 0; i < length && !out->is_overflown; i++) {
            if (i) buf_append_char(out, ',');
            append_value(vm, flow_object_element(vm, object, i), depth + 1, out);
        }
        buf_append_char(out, ']');
        return;
    }
    append_object(vm, object, depth, out);
}

void flow_json_from_value(FlowVm *vm, FlowValue value, Buf *out) {
    append_value(vm, value, 0, out);
}
