// Set: finds what a path names in a parked VM, holds both sides to plain data, and puts it there.
//
//   read the snapshot -> put each value -> write -> read that back
//
// Invariants [set-1]-[set-3] are in flow/set.h. Nothing here runs code of the script.
#include "flow/set.h"
#include "base/containers/map.h"
#include "base/containers/vec.h"
#include "flow/evaluate/internal.h"
#include "flow/mask/mask.h"
#include "flow/snapshot/path.h"
#include "flow/snapshot/view.h"
#include "flow/value/table.h"
#include <stdarg.h>
#include <stdio.h>

enum { SHOWN_BYTES = 1000, PLAIN_PARTS_MAX = 1 << 20 };

typedef struct Setting { // one value
    FlowVm *vm;
    const FlowSetValue *wanted;
    FlowPath path;
    FlowValue value;
    FlowValue old; // HOLE: it was not there
    Diag *diag;
} Setting;

static Status refuse(const Setting *setting, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static Status refuse(const Setting *setting, const char *format, ...) {
    char reason[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return diag_set(setting->diag, ERR_CONFLICT, "SET_REFUSED", "%.*s: %s",
                    STR_ARG(setting->wanted->path), reason);
}

static Status not_there(const Setting *setting) {
    return diag_set(setting->diag, ERR_NOT_FOUND, "VARIABLE_NOT_FOUND",
                    "the run has no %.*s where it waits; a new property needs an object or a Map, "
                    "a new item the next index of its array",
                    STR_ARG(setting->wanted->path));
}

// ---- plain data ----

static bool is_plain_object(FlowVm *vm, FlowObject *object) {
    if (object->cell.flags & CELL_SHARED) return false; // of the language itself
    FlowObject *proto = flow_object_proto(vm, object);
    if (object->cell.kind == KIND_ARRAY) return proto == vm->realm->protos[PROTO_ARRAY];
    return object->cell.kind == KIND_OBJECT && (!proto || proto == vm->realm->protos[PROTO_OBJECT]);
}

typedef struct PlainWalk {
    FlowVm *vm;
    Map seen;
    VEC(FlowObject *) queue;
    FlowValue odd; // the first that is no plain data; HOLE: none
} PlainWalk;

static void plain_look(PlainWalk *walk, FlowValue value) {
    if (flow_is_hole(value) || !flow_is_hole(walk->odd)) return;
    if (!flow_is_object(value)) {
        if (flow_is_symbol(value) || flow_is_cell(value)) walk->odd = value;
        return;
    }
    FlowObject *object = flow_as_object(value);
    if (!is_plain_object(walk->vm, object) || walk->queue.count >= PLAIN_PARTS_MAX) {
        walk->odd = value;
    } else if (!map_put(&walk->seen, (uint64_t)(uintptr_t)object, object)) {
        vec_push(&walk->queue, object);
    }
}

static void plain_look_inside(PlainWalk *walk, FlowObject *object) {
    FlowArray *keys = flow_object_keys(walk->vm, object, KEYS_STRINGS | KEYS_SYMBOLS);
    for (uint32_t i = 0; i < keys->length; i++) {
        FlowValue name = flow_object_element(walk->vm, &keys->object, i);
        FlowKey key;
        FlowProperty property;
        if (!flow_key_from_value(walk->vm, name, &key)) continue;
        if (!flow_object_get_own(walk->vm, object, key, &property)) continue;
        bool is_accessor = property.attributes & PROPERTY_ACCESSOR;
        plain_look(walk, is_accessor ? property.getter : property.value);
    }
}

// [set-1] Whatever it holds counts: an object with a function in it is no plain data.
static Status check_old(const Setting *setting, FlowValue value) {
    char text[FLOW_TEXT_MAX];
    PlainWalk walk = {.vm = setting->vm, .odd = FLOW_HOLE};
    map_init(&walk.seen);
    plain_look(&walk, value);
    for (size_t at = 0; at < walk.queue.count && flow_is_hole(walk.odd); at++)
        plain_look_inside(&walk, walk.queue.data[at]);
    map_done(&walk.seen);
    vec_free(&walk.queue);
    if (flow_is_hole(walk.odd)) return OK;
    bool is_itself = flow_same_bits(walk.odd, value);
    return refuse(setting, "it %s %s, which is no plain data; only plain data can be replaced",
                  is_itself ? "is" : "holds", flow_describe(setting->vm, walk.odd, text));
}

// ---- putting one value ----

static Status set_variable(Setting *setting, const ExpressionBinding *binding) {
    if (!binding->value) return not_there(setting);
    if (flow_is_hole(*binding->value))
        return refuse(setting, "it has no value yet: the run waits before its declaration");
    if (!binding->is_settable)
        return refuse(setting, "it is a constant: a const, or a variable that nothing assigns; "
                               "what is inside an object that it holds can be set");
    TRY(check_old(setting, *binding->value));
    setting->old = *binding->value;
    *binding->value = setting->value;
    return OK;
}

static Status set_entry(Setting *setting, FlowObject *map, Str name) {
    FlowSlotObject *slots = (FlowSlotObject *)map;
    FlowValue key = flow_from_string(flow_string_utf8(setting->vm, name));
    FlowTable *table = flow_as_pointer(slots->internal[0]);
    const FlowTableEntry *entry = flow_table_find(setting->vm, table, key);
    if (entry) TRY(check_old(setting, entry->value));
    if (entry) setting->old = entry->value;
    table = flow_table_put(setting->vm, table, key, setting->value);
    if (!table) return refuse(setting, "the Map is full");
    slots->internal[0] = flow_from_cell(table);
    return OK;
}

static Status put_property(Setting *setting, FlowObject *object, FlowKey key) {
    FlowValue setter;
    switch (flow_object_set(setting->vm, object, key, setting->value, &setter)) {
    case SET_DONE: return OK;
    case SET_NOT_EXTENSIBLE: return refuse(setting, "its object takes no new properties");
    case SET_READONLY: return refuse(setting, "it is frozen or read-only");
    case SET_TOO_LONG: return refuse(setting, "the array is full");
    case SET_SETTER:
    case SET_NO_SETTER: break;
    }
    return refuse(setting, "it is an accessor: reading or writing it runs code");
}

static Status set_property(Setting *setting, FlowObject *object, FlowKey key) {
    FlowProperty property;
    bool is_there = flow_object_get_own(setting->vm, object, key, &property);
    if (is_there && property.attributes & PROPERTY_ACCESSOR)
        return refuse(setting, "it is an accessor: reading or writing it runs code");
    if (is_there) {
        TRY(check_old(setting, property.value));
        setting->old = property.value;
        return put_property(setting, object, key);
    }
    // A new one is made on the object itself, whatever its prototype has.
    if (flow_object_put(setting->vm, object, key, setting->value)) return OK;
    return refuse(setting, "its object takes no new properties");
}

static Status set_item(Setting *setting, FlowObject *array, uint32_t index) { // [set-2]
    uint32_t length = ((FlowArray *)array)->length;
    if (index > length) return not_there(setting);
    return set_property(setting, array, flow_key_index(index));
}

static Status set_inside(Setting *setting, FlowValue container) {
    const FlowPathPart *last = &setting->path.parts[setting->path.count - 1];
    bool is_index = str_is_null(last->name);
    if (!flow_is_object(container)) return not_there(setting);
    FlowObject *object = flow_as_object(container);
    bool is_shared = object->cell.flags & CELL_SHARED;
    if (object->cell.kind == KIND_MAP && !is_shared && !is_index)
        return set_entry(setting, object, last->name);
    char text[FLOW_TEXT_MAX];
    if (!is_plain_object(setting->vm, object))
        return refuse(setting,
                      "it is inside %s; only what is inside plain objects, arrays and Maps "
                      "can be set",
                      flow_describe(setting->vm, container, text));
    bool is_array = object->cell.kind == KIND_ARRAY;
    if (is_array != is_index) return not_there(setting);
    if (is_array) return set_item(setting, object, last->index);
    FlowKey key = flow_key_string(setting->vm, flow_string_utf8(setting->vm, last->name));
    return set_property(setting, object, key);
}

static Status set_one(Setting *setting) {
    FlowVm *vm = setting->vm;
    ExpressionPlace place;
    ExpressionBinding binding;
    TRY(flow_path_parse(setting->wanted->path, &setting->path, setting->diag));
    if (!expression_place(vm, 0, &place) ||
        !expression_find(vm, &place, setting->path.parts[0].name, &binding))
        return not_there(setting);
    TRY(flow_json_to_value(vm, setting->wanted->json, &setting->value, setting->diag));
    if (setting->path.count == 1) return set_variable(setting, &binding);
    if (!binding.value || !flow_is_object(*binding.value)) return not_there(setting);
    FlowValue container = *binding.value;
    FlowPath outer = setting->path;
    outer.count--;
    if (!flow_path_follow(vm, &outer, &container)) return not_there(setting);
    return set_inside(setting, container);
}

// ---- what changed ----

// Cut at a whole character.
static void put_cut(JsonWriter *json, const char *key, Buf *text) {
    size_t length = text->len;
    if (text->is_overflown) {
        while (length > 0 && ((unsigned char)text->data[length - 1] & 0xC0) == 0x80) length--;
        if (length > 0) length--;
    }
    json_put_string(json, key, (Str){text->data ? text->data : "", length});
}

typedef struct Shown { // what people see of a change
    FlowVm *vm;
    const FlowMasked *masked; // NULL = nothing is hidden
    MaskState state;          // where the path leads
} Shown;

static void write_value(FlowVm *vm, FlowValue value, uint32_t text_max, Buf *text) {
    if (flow_is_object(value)) flow_json_from_value(vm, value, text);
    else flow_view_text(vm, value, text_max, text);
}

// As a whole first: what is cut is no JSON, and a text may be cut in two.
static void write_masked(const Shown *shown, FlowValue value, Buf *text) {
    const Mask *mask = shown->masked->mask;
    Str hidden = mask_path(mask, shown->state);
    if (!str_is_null(hidden)) {
        buf_printf(text, "[secret %.*s]", STR_ARG(hidden));
        return;
    }
    Arena arena;
    Buf whole, plain;
    arena_init(&arena);
    buf_init(&whole, SIZE_MAX / 2);
    buf_init(&plain, SIZE_MAX / 2);
    write_value(shown->vm, value, UINT32_MAX, &whole);
    Str json = buf_str(&whole);
    if (flow_is_object(value)) json = mask_json_at(mask, shown->state, json, &arena);
    flow_masked_text(shown->masked, json, &plain);
    buf_append_str(text, buf_str(&plain));
    buf_done(&plain);
    buf_done(&whole);
    arena_done(&arena);
}

static void put_value(const Shown *shown, JsonWriter *json, const char *key, FlowValue value) {
    Buf text;
    if (flow_is_hole(value)) {
        json_put_raw(json, key, STR("null"));
        return;
    }
    buf_init(&text, SHOWN_BYTES);
    if (shown->masked) write_masked(shown, value, &text);
    else write_value(shown->vm, value, FLOW_SET_TEXT_MAX, &text);
    put_cut(json, key, &text);
    buf_done(&text);
}

static MaskState state_of(const FlowMasked *masked, Str path) {
    FlowPath parts;
    MaskState state = 0;
    if (!masked || flow_path_parse(path, &parts, NULL) != OK) return 0;
    for (size_t i = 0; i < parts.count; i++)
        if (!str_is_null(parts.parts[i].name))
            state = mask_step(masked->mask, state, parts.parts[i].name);
    return state;
}

static Status set_each(const FlowSet *set, FlowVm *vm, const FlowMasked *masked, Buf *ret_changes,
                       Diag *diag) {
    JsonWriter json;
    json_writer_init(&json, ret_changes, STR_NULL);
    json_write_array_begin(&json);
    for (size_t i = 0; i < set->count; i++) {
        Setting setting = {.vm = vm, .wanted = &set->values[i], .old = FLOW_HOLE, .diag = diag};
        TRY(set_one(&setting));
        Shown shown = {vm, masked, state_of(masked, setting.wanted->path)};
        json_write_object_begin(&json);
        json_put_string(&json, "path", setting.wanted->path);
        put_value(&shown, &json, "old", setting.old);
        put_value(&shown, &json, "new", setting.value);
        json_write_object_end(&json);
    }
    json_write_array_end(&json);
    return OK;
}

static Status set_masked(const FlowSet *set, FlowVm *vm, Buf *ret_changes, Diag *diag) {
    FlowMasked masked;
    if (flow_vm_mask(vm) == NULL) return set_each(set, vm, NULL, ret_changes, diag);
    flow_masked_init(&masked, vm); // before anything is replaced
    Status status = set_each(set, vm, &masked, ret_changes, diag);
    flow_masked_done(&masked);
    return status;
}

// ---- the whole ----

static Status check_waits(const FlowVm *vm, Diag *diag) {
    bool is_waiting = vm->state == VM_RUNNING && !vm->frame_count && flow_is_hole(vm->exception) &&
                      !vm->driver_reaction;
    if (is_waiting) return OK;
    return diag_set(diag, ERR_CONFLICT, "SET_REFUSED",
                    "the run does not wait: it has not begun, has ended, or is at work");
}

static Status write_set(FlowVm *vm, FlowVmOptions *options, Buf *ret_bytes, Diag *diag) {
    Buf bytes;
    FlowVm *again = NULL;
    buf_init(&bytes, SIZE_MAX / 2);
    Status status = flow_snapshot_write(vm, &bytes, diag);
    if (status == OK)
        status = flow_snapshot_read(buf_str(&bytes), options, &again, diag); // [set-3]
    flow_vm_free(again);
    if (status == OK) buf_append_str(ret_bytes, buf_str(&bytes));
    buf_done(&bytes);
    return status;
}

Status flow_set_snapshot(const FlowSet *set, Str bytes, Buf *ret_bytes, Buf *ret_changes,
                         Diag *diag) {
    FlowVmOptions options = {.module = set->module, .limits = set->limits};
    FlowVm *vm;
    TRY(flow_snapshot_read(bytes, &options, &vm, diag));
    Status status = check_waits(vm, diag);
    if (status == OK) status = set_masked(set, vm, ret_changes, diag);
    if (status == OK) status = write_set(vm, &options, ret_bytes, diag);
    flow_vm_free(vm);
    return status;
}
