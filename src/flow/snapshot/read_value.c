// Snapshot reader, values: numbers back to references. Nothing here trusts the bytes.
//
//   [read-value-1] The first fault sticks: later reads answer zero or undefined, so that loops end
//        and callers check once per section.
//   [read-value-2] A reference is valid when its index is: every node is allocated, with its kind,
//        before the first reference to it is read. While shapes are read there are no nodes yet;
//        their references are kept as numbers (INT) and resolved afterwards.
//   [read-value-3] Allocation is bounded by the heap budget, counts by the bytes that are left.
#include "flow/builtin/core.h"
#include "flow/snapshot/internal.h"

void snapshot_fail(SnapshotReader *r, const char *what) {
    if (!r->fault) r->fault = what;
    r->in.is_bad = true; // [read-value-1]
}

bool snapshot_has_room(SnapshotReader *r, size_t size) { // [read-value-3]
    if (flow_heap_has_room(&r->vm->heap, size)) return true;
    r->is_over_budget = true;
    snapshot_fail(r, "it does not fit into the heap budget");
    return false;
}

uint64_t snapshot_get_number(SnapshotReader *r, uint64_t max) {
    uint64_t number = bytes_get_varint(&r->in);
    if (number <= max) return number;
    snapshot_fail(r, "a number is out of range");
    return 0;
}

uint32_t snapshot_get_count(SnapshotReader *r) {
    uint64_t count = bytes_get_varint(&r->in);
    if (count <= bytes_left(&r->in)) return (uint32_t)count;
    snapshot_fail(r, "a count is larger than what follows");
    return 0;
}

// The entries of natives are named like realm objects, but are no cells.
static bool is_native_entry(const void *thing) {
    for (int i = 0; i < 2; i++) {
        if (thing == &flow_resolving_entries[i]) return true;
        if (thing == &flow_combinator_entries[i]) return true;
    }
    return false;
}

void *snapshot_get_realm(SnapshotReader *r) {
    uint64_t number = snapshot_get_number(r, UINT32_MAX);
    void *thing = NULL;
    if (number & 1) {
        uint64_t index = number >> 1;
        if (index < r->string_count) {
            Buf text;
            buf_init(&text, 512);
            flow_string_to_utf8(r->vm, flow_as_string(r->strings[index]), &text);
            bool is_known = r->has_prelude || !snapshot_path_is_prelude(buf_str(&text));
            if (is_known && !text.is_overflown) thing = flow_realm_find(buf_str(&text));
            buf_done(&text);
        }
    } else {
        thing = snapshot_realm_at((uint32_t)(number >> 1));
    }
    if (!thing) snapshot_fail(r, "it names a built-in that does not exist");
    return thing;
}

static FlowValue realm_value(SnapshotReader *r) {
    void *thing = snapshot_get_realm(r);
    if (!thing) return FLOW_UNDEFINED;
    if (is_native_entry(thing)) {
        snapshot_fail(r, "a native entry is no value");
        return FLOW_UNDEFINED;
    }
    bool is_symbol = ((FlowCell *)thing)->kind == KIND_SYMBOL;
    return is_symbol ? flow_from_symbol(thing) : flow_from_object(thing);
}

static FlowValue node_value(SnapshotReader *r, uint64_t index) {
    if (!r->nodes) return flow_int((int32_t)(index & INT32_MAX)); // [read-value-2]
    if (index < r->node_count) return r->nodes[index].value;
    snapshot_fail(r, "a reference leads nowhere");
    return FLOW_UNDEFINED;
}

static FlowValue string_value(SnapshotReader *r, uint64_t index) {
    if (index < r->string_count) return r->strings[index];
    snapshot_fail(r, "there is no such string");
    return FLOW_UNDEFINED;
}

static FlowValue constant_value(SnapshotReader *r, uint64_t index) {
    const FlowModule *module = r->vm->module;
    if (index < module->string_count) return flow_from_string(module->strings[index]);
    snapshot_fail(r, "there is no such constant");
    return FLOW_UNDEFINED;
}

static FlowValue number_value(SnapshotReader *r, double divisor) {
    if (!r->nodes) snapshot_fail(r, "a number is no key"); // [read-value-2]
    return flow_number((double)bytes_get_zigzag(&r->in) / divisor);
}

static FlowValue small_value(SnapshotReader *r, uint8_t tag) {
    if (tag >= TAG_SMALL_STRING) return string_value(r, (uint64_t)tag - TAG_SMALL_STRING);
    if (tag >= TAG_SMALL_CONSTANT) return constant_value(r, (uint64_t)tag - TAG_SMALL_CONSTANT);
    if (tag >= TAG_SMALL_NODE) return node_value(r, (uint64_t)tag - TAG_SMALL_NODE);
    if (!r->nodes) snapshot_fail(r, "a number is no key");
    return flow_int((int32_t)tag - TAG_SMALL_INT + SMALL_INT_MIN);
}

FlowValue snapshot_get_raw(SnapshotReader *r) {
    uint8_t tag = bytes_get_u8(&r->in);
    if (tag >= TAG_SMALL_INT) return small_value(r, tag);
    switch (tag) {
    case TAG_UNDEFINED: return FLOW_UNDEFINED;
    case TAG_NULL: return FLOW_NULL;
    case TAG_FALSE: return FLOW_FALSE;
    case TAG_TRUE: return FLOW_TRUE;
    case TAG_HOLE: return FLOW_HOLE;
    case TAG_INT:
    case TAG_WHOLE: return number_value(r, 1);
    case TAG_DOUBLE: return flow_number(bytes_get_f64(&r->in));
    case TAG_DECIMAL_1: return number_value(r, 10);
    case TAG_DECIMAL_2: return number_value(r, 100);
    case TAG_DECIMAL_3: return number_value(r, 1000);
    case TAG_STRING: return string_value(r, bytes_get_varint(&r->in));
    case TAG_CONSTANT: return constant_value(r, bytes_get_varint(&r->in));
    case TAG_NODE: return node_value(r, bytes_get_varint(&r->in));
    case TAG_REALM: return realm_value(r);
    default: snapshot_fail(r, "a value has an unknown tag"); return FLOW_UNDEFINED;
    }
}

FlowValue snapshot_get_value(SnapshotReader *r) {
    FlowValue value = snapshot_get_raw(r);
    if (!flow_is_hole(value) && !flow_is_cell(value)) return value;
    snapshot_fail(r, "a value is nothing a script can hold");
    return FLOW_UNDEFINED;
}

FlowValue snapshot_get_object(SnapshotReader *r) {
    FlowValue value = snapshot_get_raw(r);
    if (flow_is_object(value)) return value;
    snapshot_fail(r, "an object is missing");
    return FLOW_UNDEFINED;
}

FlowValue snapshot_get_kind(SnapshotReader *r, FlowKind kind) {
    FlowValue value = snapshot_get_raw(r);
    bool is_heap = flow_is_object(value) || flow_is_cell(value);
    if (is_heap && flow_as_cell(value)->kind == kind) {
        if (!(flow_as_cell(value)->flags & CELL_SHARED)) return value;
    }
    snapshot_fail(r, "a reference is of the wrong kind");
    return FLOW_UNDEFINED;
}

FlowValue snapshot_get_callable(SnapshotReader *r, bool or_undefined) {
    FlowValue value = snapshot_get_raw(r);
    if (flow_is_callable(value) || (or_undefined && flow_is_undefined(value))) return value;
    snapshot_fail(r, "a function is missing");
    return FLOW_UNDEFINED;
}
