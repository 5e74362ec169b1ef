// Views of values: one line of text, and a tree as deep as asked.
//
// Invariants [view-1], [view-2] are in view.h.
//
// Not here: whose variables they are (inspect.c).
#include "flow/snapshot/view.h"
#include "flow/snapshot/internal.h"
#include "flow/vm/promise.h"

enum { SHOWN_KEYS_MAX = 6 };

// --- one line

static void show_string(FlowVm *vm, FlowString *s, uint32_t text_max, Buf *out) {
    uint32_t length = flow_string_length(s);
    bool is_cut = length > text_max;
    if (length > vm->limits.string_length / 2) { // a rope that is not worth flattening
        buf_printf(out, "string of %u characters", length);
        return;
    }
    FlowString *shown = is_cut ? flow_string_substring(vm, s, 0, text_max) : s;
    buf_append_char(out, '"');
    flow_string_to_utf8(vm, shown, out);
    buf_append_cstr(out, is_cut ? "…\"" : "\"");
}

static void show_keys(FlowVm *vm, FlowObject *object, Buf *out) {
    const FlowShape *shape = flow_object_body(vm, object)->shape;
    uint32_t shown = 0;
    buf_append_char(out, '{');
    for (uint32_t i = 0; i < shape->count; i++) {
        FlowValue key = {shape->keys->entries[i].key.bits};
        if (!key.bits || !flow_is_string(key)) continue;
        if (shown == SHOWN_KEYS_MAX) {
            buf_append_cstr(out, ", …");
            break;
        }
        if (shown++) buf_append_cstr(out, ", ");
        flow_string_to_utf8(vm, flow_as_string(key), out);
    }
    buf_append_char(out, '}');
}

static void show_object(FlowVm *vm, FlowObject *object, Buf *out) {
    static const char *const states[] = {"pending", "fulfilled", "rejected"};
    char text[FLOW_TEXT_MAX];
    switch ((FlowKind)object->cell.kind) {
    case KIND_ARRAY: buf_printf(out, "Array(%u)", ((FlowArray *)object)->length); return;
    case KIND_OBJECT: show_keys(vm, object, out); return;
    case KIND_CLOSURE:
        buf_append_cstr(out, "function ");
        flow_string_to_utf8(vm, flow_as_string(((FlowClosure *)object)->routine->name), out);
        return;
    case KIND_PROMISE:
        buf_printf(out, "Promise (%s)", states[((FlowPromise *)object)->state]);
        return;
    case KIND_MAP:
    case KIND_SET: {
        const FlowTable *table = flow_as_pointer(((FlowSlotObject *)object)->internal[0]);
        buf_printf(out, "%s(%u)", object->cell.kind == KIND_MAP ? "Map" : "Set", table->live_count);
        return;
    }
    case KIND_SECRET: flow_secret_mask(vm, object, out); return;
    default: buf_append_cstr(out, flow_describe(vm, flow_from_object(object), text)); return;
    }
}

void flow_view_text(FlowVm *vm, FlowValue value, uint32_t text_max, Buf *out) {
    char text[FLOW_TEXT_MAX];
    if (flow_is_hole(value)) buf_append_cstr(out, "not initialised");
    else if (flow_is_string(value)) show_string(vm, flow_as_string(value), text_max, out);
    else if (flow_is_object(value)) show_object(vm, flow_as_object(value), out);
    else buf_append_cstr(out, flow_describe(vm, value, text));
}

// --- trees

bool flow_view_is_data(FlowValue value) {
    if (!flow_is_object(value)) return true;
    switch ((FlowKind)flow_as_cell(value)->kind) {
    case KIND_CLOSURE:
    case KIND_NATIVE_FUNCTION:
    case KIND_BOUND_FUNCTION:
    case KIND_PROMISE:
    case KIND_COROUTINE: return false;
    default: return true;
    }
}

static const char *object_type(const FlowCell *cell) {
    switch ((FlowKind)cell->kind) {
    case KIND_OBJECT: return "object";
    case KIND_ARRAY:
    case KIND_ARGUMENTS: return "array";
    case KIND_ERROR: return "error";
    case KIND_CLOSURE:
    case KIND_NATIVE_FUNCTION:
    case KIND_BOUND_FUNCTION: return "function";
    case KIND_PROMISE: return "promise";
    case KIND_DATE: return "date";
    case KIND_REGEXP: return "regexp";
    case KIND_MAP: return "map";
    case KIND_SET: return "set";
    case KIND_SECRET: return "secret";
    default: return "other";
    }
}

static const char *type_of(FlowValue value) {
    if (flow_is_hole(value)) return "uninitialised";
    if (flow_is_string(value)) return "string";
    if (flow_is_object(value)) return object_type(flow_as_cell(value));
    if (flow_is_symbol(value)) return "symbol";
    if (flow_is_undefined(value)) return "undefined";
    if (flow_is_null(value)) return "null";
    if (flow_is_true(value) || value.bits == FLOW_FALSE.bits) return "boolean";
    return flow_is_number(value) ? "number" : "bigint";
}

typedef struct ViewItem {
    FlowValue key; // shown as text
    FlowValue value;
} ViewItem;

static void put_item(FlowViewer *viewer, const ViewItem *item, uint32_t depth) {
    json_write_object_begin(viewer->json);
    buf_clear(viewer->scratch);
    if (flow_is_string(item->key))
        flow_string_to_utf8(viewer->vm, flow_as_string(item->key), viewer->scratch);
    else flow_view_text(viewer->vm, item->key, VIEW_TEXT_MAX, viewer->scratch);
    json_put_string(viewer->json, "key", buf_str(viewer->scratch));
    flow_view_members(viewer, item->value, depth);
    json_write_object_end(viewer->json);
}

// As many of `count` as there is room for.
static uint32_t shown_count(const FlowViewer *viewer, uint32_t count) {
    uint32_t shown = count < VIEW_ITEMS_MAX ? count : VIEW_ITEMS_MAX;
    return shown < viewer->nodes_left ? shown : viewer->nodes_left;
}

static uint32_t put_elements(FlowViewer *viewer, FlowObject *array, uint32_t count,
                             uint32_t depth) {
    uint32_t shown = shown_count(viewer, count);
    for (uint32_t i = 0; i < shown; i++) {
        ViewItem item = {flow_number(i), flow_object_element(viewer->vm, array, i)};
        put_item(viewer, &item, depth);
    }
    return shown;
}

static uint32_t put_entries(FlowViewer *viewer, FlowTable *table, bool is_map, uint32_t depth) {
    uint32_t shown = shown_count(viewer, table->live_count), holes;
    uint32_t from = 0;
    for (uint32_t i = 0; i < shown; i++) {
        const FlowTableEntry *entry = flow_table_next(table, from, &holes);
        if (!entry) return i;
        from = entry->sequence + 1;
        ViewItem item = {is_map ? entry->key : flow_number(i), is_map ? entry->value : entry->key};
        put_item(viewer, &item, depth);
    }
    return shown;
}

static uint32_t put_properties(FlowViewer *viewer, FlowObject *object, FlowArray *keys,
                               uint32_t depth) {
    uint32_t shown = shown_count(viewer, keys->length);
    for (uint32_t i = 0; i < shown; i++) {
        FlowValue name = flow_object_element(viewer->vm, &keys->object, i);
        FlowKey key = flow_key_string(viewer->vm, flow_as_string(name));
        ViewItem item = {name, flow_object_get_data(viewer->vm, object, key)};
        put_item(viewer, &item, depth);
    }
    return shown;
}

static void put_object(FlowViewer *viewer, FlowObject *object, uint32_t depth) {
    FlowKind kind = (FlowKind)object->cell.kind;
    bool is_table = kind == KIND_MAP || kind == KIND_SET, is_array = kind == KIND_ARRAY;
    FlowTable *table = is_table ? flow_as_pointer(((FlowSlotObject *)object)->internal[0]) : NULL;
    FlowArray *keys =
        is_table || is_array ? NULL : flow_object_keys(viewer->vm, object, KEYS_STRINGS);
    uint32_t size = is_table   ? table->live_count
                    : is_array ? ((FlowArray *)object)->length
                               : keys->length;
    json_put_i64(viewer->json, "size", size);
    if (depth == 0 || size == 0) return;
    json_write_key(viewer->json, STR("items"));
    json_write_array_begin(viewer->json);
    uint32_t shown = is_table   ? put_entries(viewer, table, kind == KIND_MAP, depth - 1)
                     : is_array ? put_elements(viewer, object, size, depth - 1)
                                : put_properties(viewer, object, keys, depth - 1);
    json_write_array_end(viewer->json);
    if (shown < size) json_put_i64(viewer->json, "left_out", size - shown); // [view-2]
}

void flow_view_members(FlowViewer *viewer, FlowValue value, uint32_t depth) {
    if (viewer->nodes_left > 0) viewer->nodes_left--;
    json_put_cstr(viewer->json, "type", type_of(value));
    buf_clear(viewer->scratch);
    flow_view_text(viewer->vm, value, viewer->text_max, viewer->scratch);
    json_put_string(viewer->json, "text", buf_str(viewer->scratch));
    if (flow_is_string(value))
        json_put_i64(viewer->json, "size", flow_string_length(flow_as_string(value)));
    else if (flow_is_object(value) && flow_view_is_data(value))
        put_object(viewer, flow_as_object(value), depth);
}
